// One table between TauGrid's words for "not running yet" (CLI, portal, metrics, runs) and Kueue's
// reasons on a Workload's conditions. Plain strings: both the control plane and the command line
// use it.
#pragma once

#include <span>
#include <string_view>

namespace tau::kube {

struct ReasonInfo {
  std::string_view word;  // "CAPACITY_SHORT"
  std::string_view
      kueue_reason;  // of QuotaReserved=False (or Admitted=False, see condition): "WaitingForQuota"
  std::string_view condition;  // the Kueue condition that carries it
  std::string_view meaning;    // one line for people
  std::string_view who_acts;   // "user", "operator", "wait"
};

// In the order of evaluation: what blocks regardless of flavor first.
std::span<const ReasonInfo> all_reasons();
// Null for an unknown word.
const ReasonInfo* find_reason(std::string_view word);
// The first word that a Kueue reason may stand for; null when unknown. Older generic reasons are
// known too.
const ReasonInfo* reason_from_kueue(std::string_view kueue_reason);

}  // namespace tau::kube
