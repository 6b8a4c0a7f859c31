#include "mirror/translate.h"

#include "base/text.h"
#include "kube/quantity.h"

namespace tau::mirror {
using engine::Amount;
using engine::Amounts;

Names::Names() {
  CHECK(resources.intern("cpu") == engine::cpu);
  CHECK(resources.intern("memory") == engine::memory);
  CHECK(resources.intern("pods") == engine::pods);
  CHECK(resources.intern(gpu_resource) == engine::gpu);
}

Amounts amounts_of(Names& names, const kube::StringMap& quantities) {
  Amounts amounts;
  for (const auto& [resource, text] : quantities) {
    const auto value =
        resource == "cpu" ? kube::parse_quantity_milli(text) : kube::parse_quantity(text);
    if (value && *value > 0) amounts.push_back({names.resources.intern(resource), *value});
  }
  std::ranges::sort(amounts);
  return amounts;
}

std::string quantity_text(engine::ResourceId resource, int64_t value) {
  if (resource == engine::cpu) return kube::format_milli(value);
  if (resource == engine::memory) return kube::format_bytes(value);
  return std::to_string(value);
}

// Containers and sidecars run together; an init container runs with the sidecars before it.
engine::Amounts pod_amounts(Names& names, const kube::PodSpec& spec) {
  std::map<engine::ResourceId, int64_t> sum, sidecars, largest_init;
  for (const kube::Container& container : spec.containers) {
    for (const Amount& amount : amounts_of(names, container.resources.requests))
      sum[amount.resource] += amount.value;
  }
  for (const kube::Container& container : spec.init_containers) {
    const bool is_sidecar = container.restart_policy == "Always";
    for (const Amount& amount : amounts_of(names, container.resources.requests)) {
      int64_t& beside = sidecars[amount.resource];
      int64_t& most = largest_init[amount.resource];
      most = std::max(most, beside + amount.value);
      if (is_sidecar) beside += amount.value;
    }
  }
  for (const auto& [resource, value] : sidecars) sum[resource] += value;
  for (const auto& [resource, value] : largest_init) sum[resource] = std::max(sum[resource], value);
  for (const Amount& amount : amounts_of(names, spec.overhead))
    sum[amount.resource] += amount.value;
  Amounts amounts;
  for (const auto& [resource, value] : sum) {
    if (value != 0) amounts.push_back({resource, value});
  }
  return amounts;
}

namespace {

engine::Requirement requirement_of(Names& names, const kube::LabelRequirement& from) {
  engine::Requirement made{.key = names.label_keys.intern(from.key)};
  if (from.operator_ == "In")
    made.op = engine::Operator::in;
  else if (from.operator_ == "NotIn")
    made.op = engine::Operator::not_in;
  else if (from.operator_ == "Exists")
    made.op = engine::Operator::exists;
  else if (from.operator_ == "DoesNotExist")
    made.op = engine::Operator::does_not_exist;
  else
    made.op = from.operator_ == "Gt" ? engine::Operator::greater : engine::Operator::less;
  if (made.op == engine::Operator::greater || made.op == engine::Operator::less) {
    made.bound = from.values.empty() ? 0 : parse_int(from.values[0]).value_or(0);
  } else {
    for (const std::string& value : from.values)
      made.values.push_back(names.label_values.intern(value));
    std::ranges::sort(made.values);
  }
  return made;
}

engine::Term term_of(Names& names, const kube::NodeSelectorTerm& from) {
  engine::Term term;
  for (const auto& expression : from.match_expressions)
    term.push_back(requirement_of(names, expression));
  // metadata.name is the one field that may be matched; nodes carry it as a label of that name.
  for (const auto& field : from.match_fields) term.push_back(requirement_of(names, field));
  return term;
}

std::optional<engine::Effect> effect_of(const std::string& text) {
  if (text == "NoSchedule") return engine::Effect::no_schedule;
  if (text == "PreferNoSchedule") return engine::Effect::prefer_no_schedule;
  if (text == "NoExecute") return engine::Effect::no_execute;
  return std::nullopt;
}

engine::Toleration toleration_of(Names& names, const kube::Toleration& from) {
  engine::Toleration made{.effect = effect_of(from.effect)};
  if (!from.key.empty()) made.key = names.label_keys.intern(from.key);
  if (from.operator_ != "Exists") made.value = names.label_values.intern(from.value);
  return made;
}

std::vector<engine::Taint> taints_of(Names& names, const std::vector<kube::Taint>& from) {
  std::vector<engine::Taint> made;
  for (const kube::Taint& taint : from) {
    made.push_back({names.label_keys.intern(taint.key), names.label_values.intern(taint.value),
                    effect_of(taint.effect).value_or(engine::Effect::no_schedule)});
  }
  return made;
}

std::vector<engine::Label> labels_of(Names& names, const kube::StringMap& from) {
  std::vector<engine::Label> made;
  for (const auto& [key, value] : from) {
    const auto number = parse_int(value);
    made.push_back({names.label_keys.intern(key), names.label_values.intern(value),
                    number ? std::optional(*number) : std::nullopt});
  }
  return made;
}

std::vector<engine::ResourceGroup> groups_of(Names& names,
                                             const std::vector<kube::ResourceGroup>& from) {
  std::vector<engine::ResourceGroup> made;
  const auto value_of = [](const std::string& resource, const std::string& text) {
    return (resource == "cpu" ? kube::parse_quantity_milli(text) : kube::parse_quantity(text))
        .value_or(0);
  };
  for (const kube::ResourceGroup& group : from) {
    engine::ResourceGroup one;
    for (const std::string& resource : group.covered_resources)
      one.resources.push_back(names.resources.intern(resource));
    for (const kube::FlavorQuotas& flavor : group.flavors) {
      engine::FlavorQuota quotas{.flavor = names.flavors.intern(flavor.name)};
      for (const kube::ResourceQuota& quota : flavor.resources) {
        engine::Quota amount{.resource = names.resources.intern(quota.name),
                             .nominal = value_of(quota.name, quota.nominal_quota)};
        if (quota.borrowing_limit)
          amount.borrowing_limit = value_of(quota.name, *quota.borrowing_limit);
        if (quota.lending_limit) amount.lending_limit = value_of(quota.name, *quota.lending_limit);
        quotas.quotas.push_back(amount);
      }
      one.flavors.push_back(std::move(quotas));
    }
    made.push_back(std::move(one));
  }
  return made;
}

}  // namespace

engine::Request request_of(Names& names, const kube::PodSpec& spec) {
  engine::Request request{.amounts = pod_amounts(names, spec)};
  engine::Term base;
  for (const auto& [key, value] : spec.node_selector) {
    base.push_back({.key = names.label_keys.intern(key),
                    .op = engine::Operator::in,
                    .values = {names.label_values.intern(value)}});
  }
  for (const kube::NodeSelectorTerm& from : spec.required_node_affinity) {
    engine::Term term = term_of(names, from);
    if (term.empty()) continue;  // an empty term matches no node; the others are ORed
    term.insert(term.end(), base.begin(), base.end());
    request.terms.push_back(std::move(term));
  }
  if (!spec.required_node_affinity.empty() && request.terms.empty()) {
    // Empty terms alone: matches nothing, as upstream.
    request.terms.push_back({{.key = names.label_keys.intern("metadata.name")}});
  }
  if (request.terms.empty() && !base.empty()) request.terms.push_back(base);
  for (const kube::Toleration& toleration : spec.tolerations)
    request.tolerations.push_back(toleration_of(names, toleration));
  for (const kube::PreferredTerm& wish : spec.preferred_node_affinity) {
    request.preferences.push_back(
        {static_cast<int32_t>(wish.weight), term_of(names, wish.preference)});
  }
  return request;
}

std::vector<std::string> devices_of(const kube::Node& node) {
  std::vector<std::string> devices;
  const auto found = node.metadata.annotations.find(std::string(gpu_devices_annotation));
  if (found == node.metadata.annotations.end()) return devices;
  for (const std::string_view uuid : split(found->second, ',')) {
    if (!trim(uuid).empty()) devices.emplace_back(trim(uuid));
  }
  return devices;
}

engine::NodeUpsert node_of(Names& names, const kube::Node& node) {
  engine::NodeUpsert made{.id = names.nodes.intern(node.metadata.name),
                          .allocatable = amounts_of(names, node.status.allocatable)};
  int64_t gpus = 0;
  for (const Amount& amount : made.allocatable) {
    if (amount.resource == engine::gpu) gpus = std::min<int64_t>(amount.value, 64);
  }
  made.healthy_gpus = gpus == 64 ? ~engine::GpuMask{0} : (engine::GpuMask{1} << gpus) - 1;
  made.labels = labels_of(names, node.metadata.labels);
  made.labels.push_back({names.label_keys.intern("metadata.name"),
                         names.label_values.intern(node.metadata.name), std::nullopt});
  made.taints = taints_of(names, node.spec.taints);
  made.is_ready = kube::is_true(node.status.conditions, "Ready");
  made.is_cordoned = node.spec.unschedulable;
  return made;
}

engine::GpuMask mask_of(const kube::Pod& pod, const std::vector<std::string>& devices) {
  engine::GpuMask mask = 0;
  const auto found = pod.metadata.annotations.find(std::string(gpus_annotation));
  if (found == pod.metadata.annotations.end()) return mask;
  for (const std::string_view part : split(found->second, ';')) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    for (const std::string_view uuid : split(part.substr(equals + 1), ',')) {
      const auto device = std::ranges::find(devices, uuid);
      const auto index = static_cast<size_t>(device - devices.begin());
      if (device != devices.end() && index < 64) mask |= engine::GpuMask{1} << index;
    }
  }
  return mask;
}

namespace {

engine::Preemption preemption_of(const kube::ClusterQueue::Spec::Preemption& from) {
  engine::Preemption made;
  if (from.within_cluster_queue == "LowerPriority")
    made.within = engine::Within::lower_priority;
  else if (from.within_cluster_queue == "LowerOrNewerEqualPriority")
    made.within = engine::Within::lower_or_newer_equal_priority;
  if (from.reclaim_within_cohort == "LowerPriority")
    made.reclaim = engine::Reclaim::lower_priority;
  else if (from.reclaim_within_cohort == "Any")
    made.reclaim = engine::Reclaim::any;
  made.may_borrow = from.borrow_within_cohort_policy == "LowerPriority";
  if (from.borrow_within_cohort_max_priority)
    made.borrow_max_priority = static_cast<int32_t>(*from.borrow_within_cohort_max_priority);
  return made;
}

// In millionths; anything that is no weight counts as one.
int64_t weight_of(const std::optional<std::string>& from) {
  if (!from) return engine::weight_one;
  const auto milli = kube::parse_quantity_milli(*from);
  return milli && *milli >= 0 ? *milli * (engine::weight_one / 1000) : engine::weight_one;
}

}  // namespace

engine::QueueUpsert queue_of(Names& names, const kube::ClusterQueue& queue) {
  engine::QueueUpsert made{.id = names.queues.intern(queue.metadata.name),
                           .groups = groups_of(names, queue.spec.resource_groups)};
  if (!queue.spec.cohort_name.empty()) made.cohort = names.cohorts.intern(queue.spec.cohort_name);
  if (queue.spec.queueing_strategy == "StrictFIFO") made.strategy = engine::Strategy::strict_fifo;
  made.stop = stop_of(queue.spec.stop_policy);
  made.tries_next_before_borrowing =
      queue.spec.flavor_fungibility.when_can_borrow == "TryNextFlavor";
  made.stops_at_preemption = queue.spec.flavor_fungibility.when_can_preempt == "MayStopSearch";
  made.prefers_preemption_to_borrowing =
      queue.spec.flavor_fungibility.preference == "PreemptionOverBorrowing";
  made.preemption = preemption_of(queue.spec.preemption);
  made.weight = weight_of(queue.spec.fair_sharing_weight);
  const auto annotation = [&](std::string_view name) {
    const auto found = queue.metadata.annotations.find(std::string(name));
    return found == queue.metadata.annotations.end() ? std::string() : found->second;
  };
  made.follows_nodes = annotation(quota_annotation) == "auto";
  const std::string backfill = annotation(backfill_annotation);
  made.reserves_for_head = backfill == "easy" || backfill == "conservative";
  return made;
}

engine::FlavorUpsert flavor_of(Names& names, const kube::ResourceFlavor& flavor) {
  engine::FlavorUpsert made{.id = names.flavors.intern(flavor.metadata.name),
                            .node_labels = labels_of(names, flavor.node_labels),
                            .node_taints = taints_of(names, flavor.node_taints)};
  for (const kube::Toleration& toleration : flavor.tolerations)
    made.tolerations.push_back(toleration_of(names, toleration));
  return made;
}

engine::StopPolicy stop_of(std::string_view policy) {
  if (policy == "Hold") return engine::StopPolicy::hold;
  return policy == "HoldAndDrain" ? engine::StopPolicy::hold_and_drain : engine::StopPolicy::none;
}

engine::TopologyRequest topology_of(Names& names, const kube::PodSet& set) {
  using Kind = engine::TopologyRequest::Kind;
  engine::TopologyRequest made{.level = {}, .slices = {}};
  if (set.required_topology) {
    made.kind = Kind::required;
    made.level = names.label_keys.intern(*set.required_topology);
  } else if (set.preferred_topology) {
    made.kind = Kind::preferred;
    made.level = names.label_keys.intern(*set.preferred_topology);
  } else if (set.unconstrained_topology) {
    made.kind = Kind::unconstrained;
  }
  const auto slice = [&](const std::string& level, int64_t size) {
    made.slices.push_back({names.label_keys.intern(level),
                           static_cast<int32_t>(std::clamp<int64_t>(size, 1, 1 << 20))});
  };
  if (set.slice_required_topology) slice(*set.slice_required_topology, set.slice_size.value_or(1));
  for (const kube::TopologySlice& one : set.slice_constraints) slice(one.topology, one.size);
  if (!set.group_name.empty()) made.group = names.label_values.intern(set.group_name).value + 1;
  return made;
}

engine::CohortUpsert cohort_of(Names& names, const kube::Cohort& cohort) {
  engine::CohortUpsert made{.id = names.cohorts.intern(cohort.metadata.name),
                            .groups = groups_of(names, cohort.resource_groups),
                            .weight = weight_of(cohort.fair_sharing_weight)};
  if (!cohort.parent_name.empty()) made.parent = names.cohorts.intern(cohort.parent_name);
  return made;
}

std::vector<engine::PodSetAdmission> admission_of(Names& names, const kube::Workload& workload) {
  std::vector<engine::PodSetAdmission> made;
  for (const kube::PodSet& set : workload.spec.pod_sets) {
    engine::PodSetAdmission one{.count = static_cast<int32_t>(set.count)};
    for (const kube::PodSetAssignment& assignment :
         workload.status.admission->pod_set_assignments) {
      if (assignment.name != set.name) continue;
      one.count = static_cast<int32_t>(assignment.count.value_or(set.count));
      for (const auto& [resource, flavor] : assignment.flavors)
        one.flavors.emplace_back(names.resources.intern(resource), names.flavors.intern(flavor));
      std::ranges::sort(one.flavors);
      if (!assignment.topology_assignment || assignment.topology_assignment->levels.empty() ||
          assignment.topology_assignment->levels.back() != hostname_level) {
        continue;
      }
      for (const kube::TopologyDomain& domain : assignment.topology_assignment->domains) {
        if (!domain.values.empty())
          one.nodes.emplace_back(names.nodes.intern(domain.values.back()),
                                 static_cast<int32_t>(domain.count));
      }
    }
    made.push_back(std::move(one));
  }
  return made;
}

kube::Admission admission_text(const Names& names, const kube::Workload& workload,
                               const engine::Admit& admit) {
  kube::Admission made{.cluster_queue = names.queues.name(admit.queue)};
  Names scratch;  // amounts need an interner that may grow; the fixed resources have the same ids
  for (size_t set = 0; set < admit.pod_sets.size() && set < workload.spec.pod_sets.size(); ++set) {
    const kube::PodSet& pod_set = workload.spec.pod_sets[set];
    kube::PodSetAssignment assignment{.name = pod_set.name, .count = admit.pod_sets[set].count};
    const Amounts amounts = pod_amounts(scratch, pod_set.template_.spec);
    for (const auto& [resource, flavor] : admit.pod_sets[set].flavors) {
      const std::string& resource_name = names.resources.name(resource);
      assignment.flavors[resource_name] = names.flavors.name(flavor);
      int64_t each = resource == engine::pods ? 1 : 0;
      for (const Amount& amount : amounts) {
        if (scratch.resources.name(amount.resource) == resource_name) each = amount.value;
      }
      assignment.resource_usage[resource_name] =
          quantity_text(resource, each * admit.pod_sets[set].count);
    }
    if (!admit.pod_sets[set].nodes.empty()) {
      kube::TopologyAssignment& topology = assignment.topology_assignment.emplace();
      topology.levels = {std::string(hostname_level)};
      for (const auto& [node, count] : admit.pod_sets[set].nodes)
        topology.domains.push_back({{names.nodes.name(node)}, count});
    }
    made.pod_set_assignments.push_back(std::move(assignment));
  }
  return made;
}

}  // namespace tau::mirror
