// Reads the parts of a scenario into engine deltas. Names are interned once per scenario; what
// cannot be read is a problem, what the engine does not do yet is a missing feature: both are
// gathered, none is fatal.
#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/values.h"
#include "mirror/names.h"

namespace tau::sim {

class ScenarioReader {
 public:
  // Looks at every key of the scenario before anything is played.
  void check(const boost::json::object& scenario);

  // Flavors, cohorts, nodes and queues, those only named by others included.
  std::vector<engine::Delta> cluster(const boost::json::object& scenario);
  engine::NodeUpsert node(const boost::json::object& from);
  engine::WorkloadUpsert pending(const boost::json::object& from);
  // A topology alone: a queue without bounds, and work that only has to be placed.
  std::vector<engine::Delta> placement_only(const boost::json::object& scenario);
  std::vector<engine::PodUpsert> other_pods(const boost::json::object& scenario);
  // Work that holds quota already, and with `at` nodes.
  engine::WorkloadUpsert running(const boost::json::object& from);

  // Its pod sets' names, in order.
  const std::vector<std::string>& sets_of(const std::string& workload) const;
  void problem(std::string what) { problems_.push_back(std::move(what)); }
  const std::vector<std::string>& problems() const { return problems_; }
  const std::set<std::string>& missing() const { return missing_; }
  mirror::Names& names() { return names_; }
  const mirror::Names& names() const { return names_; }

 private:
  struct Key {
    std::string_view name;
    std::string_view missing;  // the feature that the engine lacks; empty = read
  };
  void check_keys(const boost::json::object& object, std::span<const Key> keys,
                  std::string_view where);
  void check_queue(const boost::json::object& queue);
  void check_work(const boost::json::object& work, std::span<const Key> keys);
  void check_steps(const boost::json::object& scenario);
  int64_t value_of(std::string_view resource, const boost::json::value& from);
  engine::Amounts amounts(const boost::json::object& from,
                          std::span<const std::string_view> others);
  std::vector<engine::Taint> taints(const boost::json::value* from);
  std::vector<engine::Toleration> tolerations(const boost::json::value* from);
  std::vector<engine::Label> labels(const boost::json::value* from);
  engine::TopologyRequest topology(const boost::json::object& from);
  engine::PodSet pod_set(const boost::json::object& from);
  engine::FlavorQuota flavor_quota(const boost::json::object& from);
  std::vector<engine::ResourceGroup> groups(const boost::json::value* from);
  engine::FlavorUpsert flavor(const boost::json::object& from);
  int64_t weight(const boost::json::object& from);
  engine::FairSharing fair_sharing(const boost::json::object& scenario);
  engine::Preemption preemption(const boost::json::object& from);
  engine::QueueUpsert queue(const boost::json::object& from);
  engine::CohortUpsert cohort(const boost::json::object& from);
  engine::WorkloadUpsert work(const boost::json::object& from);

  mirror::Names names_;
  std::vector<engine::LabelKeyId> levels_;  // of the scenario's topology, from the top
  std::map<std::string, std::vector<std::string>> sets_;  // workload -> pod set names
  std::vector<std::string> problems_;
  std::set<std::string> missing_;
};

}  // namespace tau::sim
