#include "cmd/live_names.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "cmd/session.h"
#include "meta/json.h"

namespace tau::cmd {
namespace json = boost::json;

namespace {

constexpr Duration patience = milliseconds(300);

GlobalOptions options_of(std::span<const std::string> words) {
  GlobalOptions options;
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == "--") break;
    for (const auto& [name, to] :
         {std::pair("--kubeconfig", &options.kubeconfig), std::pair("--context", &options.context),
          std::pair("--state", &options.state), std::pair("-n", &options.ns),
          std::pair("--namespace", &options.ns), std::pair("--workspace", &options.ns)}) {
      if (words[i] == name) *to = words[i + 1];
    }
  }
  return options;
}

std::vector<Candidate> items_at(Session& session, const std::string& target, std::string_view name,
                                std::string_view note) {
  const auto answer =
      session.raw({.target = target, .headers = {{"Accept", "application/json"}}}, patience);
  if (!answer || answer->status != 200) return {};
  const auto parsed = meta::parse_json(answer->body);
  const json::value* items = parsed ? meta::find_path(*parsed, "items") : nullptr;
  std::vector<Candidate> found;
  if (items == nullptr || !items->is_array()) return found;
  for (const json::value& item : items->get_array()) {
    Candidate candidate{std::string(meta::string_at(item, name)),
                        note.empty() ? "" : std::string(meta::string_at(item, note))};
    if (!candidate.word.empty() &&
        std::ranges::find(found, candidate.word, &Candidate::word) == found.end())
      found.push_back(std::move(candidate));
  }
  return found;
}

}  // namespace

LiveNames live_names(std::span<const std::string> words) {
  return [options = options_of(words)](std::string_view kind) -> std::vector<Candidate> {
    if (kind == "PHASE")
      return {{"Queued", ""},    {"Starting", ""}, {"Running", ""},
              {"Succeeded", ""}, {"Failed", ""},   {"Cancelled", ""}};
    const bool is_known = kind == "RUN" || kind == "QUEUE" || kind == "NODE" ||
                          kind == "NAMESPACE" || kind == "CLASS";
    if (!is_known) return {};
    auto session = Session::open(options);
    if (!session) return {};
    Session& s = **session;
    if (kind == "RUN")
      return items_at(
          s,
          fmt::format("/apis/view.taugrid.io/v1alpha1/namespaces/{}/runs?history=true&limit=200",
                      s.ns()),
          "name", "phase");
    if (kind == "QUEUE")
      return items_at(s,
                      fmt::format("/apis/kueue.x-k8s.io/v1beta2/namespaces/{}/localqueues", s.ns()),
                      "metadata.name", "spec.clusterQueue");
    if (kind == "CLASS")
      return items_at(s, "/apis/kueue.x-k8s.io/v1beta2/workloadpriorityclasses", "metadata.name",
                      "description");
    if (kind == "NAMESPACE")
      return items_at(s, "/api/v1/namespaces?limit=500", "metadata.name", "");
    return items_at(s, "/api/v1/nodes?limit=500", "metadata.name", "");
  };
}

}  // namespace tau::cmd
