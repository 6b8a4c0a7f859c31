// run_views: asking view.taugrid.io for runs, and what several verbs say about one.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "cmd/session.h"
#include "kube/views.h"
#include "meta/type_info.h"

namespace tau::cmd {

constexpr std::string_view view_root = "/apis/view.taugrid.io/v1alpha1";

// A list of views at a path below the root; `raw` takes the whole answer.
template <class T>
Try<std::vector<T>> list_views(Session& session, const std::string& path,
                               boost::json::value* raw = nullptr) {
  auto answer = session.get(std::string(view_root) + path);
  if (!answer) return std::unexpected(answer.error());
  std::vector<T> views;
  const boost::json::value* items =
      answer->is_object() ? answer->get_object().if_contains("items") : nullptr;
  if (items != nullptr && items->is_array()) {
    for (const boost::json::value& item : items->get_array()) {
      if (auto view = meta::decode<T>(item)) views.push_back(std::move(*view));
    }
  }
  if (raw != nullptr) *raw = std::move(*answer);
  return views;
}

// By name ("x" or "run/x"), run id or unique start of an id, in the session's namespace; a miss
// names the nearest.
Try<kube::RunView> find_run(Session& session, const std::string& given,
                            boost::json::value* raw = nullptr);
bool is_over(const kube::RunView& run);
// Succeeded; or whose fault the end was: the user's code (8), or the platform or the machine (9).
ExitCode exit_of(const kube::RunView& run);

}  // namespace tau::cmd
