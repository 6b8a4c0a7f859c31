// Small questions about the object types of types.h.
#include "kube/types.h"

namespace tau::kube {

const OwnerReference* controller_of(const ObjectMeta& metadata) {
  for (const OwnerReference& owner : metadata.owner_references) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  for (const Condition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

bool is_true(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* found = find_condition(conditions, type);
  return found != nullptr && found->status == "True";
}

bool set_condition(std::vector<Condition>& conditions, Condition condition, Time now) {
  for (Condition& held : conditions) {
    if (held.type != condition.type) continue;
    const bool is_same = held.status == condition.status && held.reason == condition.reason &&
                         held.message == condition.message &&
                         held.observed_generation == condition.observed_generation;
    if (is_same) return false;
    condition.last_transition_time =
        held.status == condition.status ? held.last_transition_time : now;
    held = std::move(condition);
    return true;
  }
  condition.last_transition_time = now;
  conditions.push_back(std::move(condition));
  return true;
}

}  // namespace tau::kube
