// The cells of pods and Jobs. A pod's status word follows the rules of kubectl's own column: the
// phase, unless a container, an init container or a deletion has more to say.
#include <fmt/format.h>

#include "base/text.h"
#include "kube/json_access.h"
#include "kube/table.h"
#include "kube/table_cells.h"

namespace tau::kube {
namespace json = boost::json;

namespace {

struct Summary {
  std::string word;
  int64_t ready = 0, containers = 0, restarts = 0;
  std::string_view last_restart;  // RFC 3339 sorts as text
};

std::string ended_word(const json::object& terminated) {
  if (const auto reason = text_at(terminated, "reason"); !reason.empty())
    return std::string(reason);
  if (const int64_t signal = integer_at(terminated, "signal").value_or(0); signal != 0)
    return fmt::format("Signal:{}", signal);
  return fmt::format("ExitCode:{}", integer_at(terminated, "exitCode").value_or(0));
}

const json::object* condition_of(const json::object& status, std::string_view type) {
  for (const json::value& condition : array_at(status, "conditions")) {
    if (text_at(as_object(condition), "type") == type) return &as_object(condition);
  }
  return nullptr;
}
bool is_condition_true(const json::object& status, std::string_view type) {
  const json::object* condition = condition_of(status, type);
  return condition != nullptr && text_at(*condition, "status") == "True";
}

bool is_sidecar(const json::object& spec, std::string_view name) {
  for (const json::value& container : array_at(spec, "initContainers")) {
    const json::object& object = as_object(container);
    if (text_at(object, "name") == name) return text_at(object, "restartPolicy") == "Always";
  }
  return false;
}

void count_restarts(const json::object& container, int64_t& restarts, std::string_view& last) {
  restarts += integer_at(container, "restartCount").value_or(0);
  last = std::max(
      last, text_at(object_at(object_at(container, "lastState"), "terminated"), "finishedAt"));
}

// True while the init containers are what the pod is about.
bool summarize_init(Summary& summary, const json::object& spec, const json::object& status,
                    int64_t& sidecar_restarts, std::string_view& sidecar_last) {
  const json::array& containers = array_at(status, "initContainerStatuses");
  for (size_t i = 0; i < containers.size(); ++i) {
    const json::object& container = as_object(containers[i]);
    const json::object& state = object_at(container, "state");
    const bool sidecar = is_sidecar(spec, text_at(container, "name"));
    count_restarts(container, summary.restarts, summary.last_restart);
    if (sidecar) count_restarts(container, sidecar_restarts, sidecar_last);
    const bool is_ended = has(state, "terminated");
    const json::object& terminated = object_at(state, "terminated");
    if (is_ended && integer_at(terminated, "exitCode").value_or(0) == 0) continue;
    if (sidecar && is_true_at(container, "started")) {
      if (is_true_at(container, "ready")) ++summary.ready;
      continue;
    }
    const std::string_view waiting = text_at(object_at(state, "waiting"), "reason");
    if (is_ended) {
      summary.word = "Init:" + ended_word(terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      summary.word = fmt::format("Init:{}", waiting);
    } else {
      summary.word = fmt::format("Init:{}/{}", i, array_at(spec, "initContainers").size());
    }
    return true;
  }
  return false;
}

void summarize_containers(Summary& summary, const json::object& status) {
  bool has_running = false;
  std::string error_word;
  const json::array& containers = array_at(status, "containerStatuses");
  for (size_t i = containers.size(); i-- > 0;) {
    const json::object& container = as_object(containers[i]);
    const json::object& state = object_at(container, "state");
    count_restarts(container, summary.restarts, summary.last_restart);
    const std::string_view waiting = text_at(object_at(state, "waiting"), "reason");
    if (!waiting.empty()) {
      summary.word = waiting;
    } else if (has(state, "terminated")) {
      const json::object& terminated = object_at(state, "terminated");
      summary.word = ended_word(terminated);
      if (integer_at(terminated, "exitCode").value_or(0) != 0) error_word = summary.word;
    } else if (is_true_at(container, "ready") && has(state, "running")) {
      has_running = true;
      ++summary.ready;
    }
  }
  if (summary.word != "Completed") return;
  if (has_running && is_condition_true(status, "Ready")) {
    summary.word = "Running";
  } else if (!error_word.empty()) {
    summary.word = error_word;
  } else if (has_running) {
    summary.word = "NotReady";
  }
}

Summary summarize(const json::object& pod) {
  const json::object& spec = object_at(pod, "spec");
  const json::object& status = object_at(pod, "status");
  const std::string_view phase = text_at(status, "phase"), reason = text_at(status, "reason");
  Summary summary{.word = std::string(reason.empty() ? phase : reason)};
  const json::object* scheduled = condition_of(status, "PodScheduled");
  if (scheduled != nullptr && text_at(*scheduled, "reason") == "SchedulingGated")
    summary.word = "SchedulingGated";
  summary.containers = static_cast<int64_t>(array_at(spec, "containers").size());
  for (const json::value& container : array_at(spec, "initContainers")) {
    if (text_at(as_object(container), "restartPolicy") == "Always") ++summary.containers;
  }
  int64_t sidecar_restarts = 0;
  std::string_view sidecar_last;
  const bool is_initializing =
      summarize_init(summary, spec, status, sidecar_restarts, sidecar_last);
  if (!is_initializing || is_condition_true(status, "Initialized")) {
    summary.restarts = sidecar_restarts;
    summary.last_restart = sidecar_last;
    summarize_containers(summary, status);
  }
  if (has(object_at(pod, "metadata"), "deletionTimestamp")) {
    if (reason == "NodeLost") {
      summary.word = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      summary.word = "Terminating";
    }
  }
  return summary;
}

std::string readiness_gates(const json::object& spec, const json::object& status) {
  const json::array& gates = array_at(spec, "readinessGates");
  if (gates.empty()) return "<none>";
  int holding = 0;
  for (const json::value& gate : gates)
    holding += is_condition_true(status, text_at(as_object(gate), "conditionType"));
  return fmt::format("{}/{}", holding, gates.size());
}

std::string or_none(std::string_view text) {
  return std::string(text.empty() ? "<none>" : text);
}

}  // namespace

std::string pod_status_word(const json::object& pod) {
  return summarize(pod).word;
}

json::array pod_cells(const json::object& pod, Time now) {
  const json::object& metadata = object_at(pod, "metadata");
  const json::object& spec = object_at(pod, "spec");
  const json::object& status = object_at(pod, "status");
  const Summary summary = summarize(pod);
  std::string restarts = std::to_string(summary.restarts);
  if (summary.restarts != 0 && !summary.last_restart.empty())
    restarts += fmt::format(" ({} ago)", age_since(summary.last_restart, now));
  const json::array& addresses = array_at(status, "podIPs");
  const std::string_view address =
      addresses.empty() ? text_at(status, "podIP") : text_at(as_object(addresses[0]), "ip");
  return {text_at(metadata, "name"),
          fmt::format("{}/{}", summary.ready, summary.containers),
          summary.word,
          restarts,
          age_since(text_at(metadata, "creationTimestamp"), now),
          or_none(address),
          or_none(text_at(spec, "nodeName")),
          or_none(text_at(status, "nominatedNodeName")),
          readiness_gates(spec, status)};
}

namespace {

std::string job_word(const json::object& job) {
  const json::object& status = object_at(job, "status");
  if (is_condition_true(status, "Complete")) return "Complete";
  if (is_condition_true(status, "Failed")) return "Failed";
  if (has(object_at(job, "metadata"), "deletionTimestamp")) return "Terminating";
  for (const char* type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (is_condition_true(status, type)) return type;
  }
  return "Running";
}

std::string job_completions(const json::object& spec, int64_t succeeded) {
  if (const auto completions = integer_at(spec, "completions"))
    return fmt::format("{}/{}", succeeded, *completions);
  const int64_t parallelism = integer_at(spec, "parallelism").value_or(0);
  return parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism)
                         : fmt::format("{}/1", succeeded);
}

std::string selector_text(const json::object& spec) {
  if (!has(spec, "selector")) return "<none>";
  std::map<std::string_view, std::string_view> labels;
  for (const auto& [key, value] : object_at(object_at(spec, "selector"), "matchLabels"))
    labels[key] = as_view(&value);
  std::string text;
  for (const auto& [key, value] : labels)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  for (const json::value& element : array_at(object_at(spec, "selector"), "matchExpressions")) {
    const json::object& expression = as_object(element);
    std::string values;
    for (const json::value& value : array_at(expression, "values"))
      values += fmt::format("{}{}", values.empty() ? "" : ",", as_view(&value));
    const std::string_view operator_ = text_at(expression, "operator");
    const std::string part = operator_ == "Exists" ? std::string(text_at(expression, "key"))
                             : operator_ == "DoesNotExist"
                                 ? fmt::format("!{}", text_at(expression, "key"))
                                 : fmt::format("{} {} ({})", text_at(expression, "key"),
                                               operator_ == "In" ? "in" : "notin", values);
    text += fmt::format("{}{}", text.empty() ? "" : ",", part);
  }
  return text.empty() ? "<none>" : text;
}

}  // namespace

json::array job_cells(const json::object& job, Time now) {
  const json::object& metadata = object_at(job, "metadata");
  const json::object& spec = object_at(job, "spec");
  const json::object& status = object_at(job, "status");
  std::string duration;
  if (const auto start = parse_rfc3339(text_at(status, "startTime"))) {
    const auto end = parse_rfc3339(text_at(status, "completionTime"));
    duration = format_age((end ? *end : now) - *start);
  }
  std::string names, images;
  for (const json::value& container :
       array_at(object_at(object_at(spec, "template"), "spec"), "containers")) {
    names += fmt::format("{}{}", names.empty() ? "" : ",", text_at(as_object(container), "name"));
    images +=
        fmt::format("{}{}", images.empty() ? "" : ",", text_at(as_object(container), "image"));
  }
  return {text_at(metadata, "name"),
          job_word(job),
          job_completions(spec, integer_at(status, "succeeded").value_or(0)),
          duration,
          age_since(text_at(metadata, "creationTimestamp"), now),
          names,
          images,
          selector_text(spec)};
}

}  // namespace tau::kube
