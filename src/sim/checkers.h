// What must hold, checked from outside: over the objects that the server shows, never over the
// control plane's own view of itself. Each check returns sentences that name what is wrong; none =
// all holds.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "history/records.h"
#include "kube/store.h"

namespace tau::sim {

using Violations = std::vector<std::string>;

// After every event.
// No device is given to two live pods; no node holds more than it has; a gang is decided whole;
// what is admitted lies within the nominal quota of a queue outside cohorts.
Violations check_always(const kube::Stores& stores);

// Once nothing changes any more (and every node that is to come back is back).
struct QuietWorld {
  const kube::Stores& stores;
  const history::HistoryStore& history;
  const std::set<std::string>& submitted_uids;  // of Jobs
  const std::set<std::string>& cancelled_uids;
};
// Every live pod is bound and no gang is partial; each submitted Job waits, runs, or has exactly
// one terminal record; nothing that would fit is left waiting.
Violations check_quiet(const QuietWorld& world);

// Remembers terminal records, so that none ever changes again.
class TerminalRecords {
 public:
  Violations observe(const std::vector<history::RunRecord>& runs);

 private:
  std::map<std::string, std::string> ends_;  // uid -> phase, end
};

}  // namespace tau::sim
