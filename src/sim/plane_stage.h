// PlaneStage: engine deltas as the API objects that would give them, played on the whole control
// plane; what the API then shows comes back as decisions. Names are the scenario's, as far as the
// API allows them ("r1/n1" becomes "r1.n1").
#pragma once

#include "kube/types.h"
#include "sim/rig.h"
#include "sim/scenario_stage.h"

namespace tau::sim {

class ScenarioReader;

class PlaneStage : public ScenarioStage {
 public:
  explicit PlaneStage(ScenarioReader& reader) : reader_(reader) {}
  void apply(std::span<const engine::Delta> deltas) override;
  engine::CycleResult run_cycle(Time now, Rng& rng, const engine::CycleOptions& how) override;
  void restart() override;
  std::map<engine::WorkloadId, PendingFacts> pending() override;
  std::string reason_of(engine::WorkloadId workload) override;
  engine::View view() override { return {}; }
  std::string check_invariants() override { return std::exchange(trouble_, {}); }
  std::set<std::string> missing() const override { return missing_; }

 private:
  void put(const engine::Delta& delta);
  void put_node(const engine::NodeUpsert& node);
  void put_flavor(const engine::FlavorUpsert& flavor);
  void put_queue(const engine::QueueUpsert& queue);
  void put_cohort(const engine::CohortUpsert& cohort);
  void put_pod(const engine::PodUpsert& pod);
  void put_workload(const engine::WorkloadUpsert& work);
  void make_workload(const engine::WorkloadUpsert& work);
  void remove(kube::Kind kind, const std::string& ns, const std::string& name);
  // Work that came since the last cycle, in the order of its creation.
  void flush();
  void note_changes(engine::CycleResult& result);
  template <class T>
  void create(const T& object);
  void send(const kube::ApiRequest& request);
  template <class Pointer>
  void write_status(const Pointer& object);

  std::vector<kube::ResourceGroup> groups(const std::vector<engine::ResourceGroup>& from) const;
  kube::PodSpec pod_spec(const engine::Request& request);
  kube::StringMap quantities(const engine::Amounts& amounts) const;
  kube::StringMap labels(const std::vector<engine::Label>& from) const;
  std::vector<kube::Taint> taints(const std::vector<engine::Taint>& from) const;
  std::vector<kube::Toleration> tolerations(const std::vector<engine::Toleration>& from) const;
  void ask_topology(kube::PodSet& set, const engine::TopologyRequest& from);
  kube::Admission admission(const kube::Workload& workload, const engine::WorkloadUpsert& work);
  std::vector<engine::PodSetAdmission> admission_shown(const kube::Workload& workload) const;
  std::string name_of(engine::WorkloadId id) const;
  // As the API allows it; remembered, so that what is seen has the scenario's name again.
  std::string named(const std::string& name) const;
  const std::string& original(const std::string& name) const;
  kube::Store<kube::Workload>::Pointer find(engine::WorkloadId id) const;

  ScenarioReader& reader_;
  std::unique_ptr<Rig> rig_;  // made when it is known how shares are compared
  engine::FairSharing fair_sharing_;
  std::vector<engine::WorkloadUpsert> coming_;
  mutable std::map<std::string, std::string> originals_;  // the scenario's name, of the API's
  std::set<std::string> made_;                            // "kind/name"
  // Preemptors of those that have not left yet by the scenario's own account.
  std::map<engine::WorkloadId, engine::WorkloadId> leaving_;  // victim -> preemptor
  std::map<std::string, std::pair<std::vector<engine::PodSetAdmission>, Time>> seen_;
  std::map<std::string, engine::PodId> pods_;
  std::set<std::string> bound_;
  std::optional<Time> last_;
  std::set<std::string> missing_;
  std::string trouble_;
};

}  // namespace tau::sim
