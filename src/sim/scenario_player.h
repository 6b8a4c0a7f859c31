// Plays one scenario on a stage: gives its deltas, runs its steps, and compares what was decided
// with what is expected. Answers as the API would: what is admitted is confirmed, what is bound is
// shown as bound.
#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <optional>

#include "engine/engine.h"
#include "sim/scenario_reader.h"
#include "sim/scenario_stage.h"

namespace tau::sim {

class ScenarioPlayer {
 public:
  ScenarioPlayer(ScenarioReader& reader, const boost::json::object& scenario, ScenarioStage& stage);
  // Every difference as "where: what: want ..., got ...".
  std::vector<std::string> play();

 private:
  struct Evicted {
    engine::EvictReason reason;
    engine::PreemptCause cause = engine::PreemptCause::none;
    std::string by;
  };
  void set_up();
  void give(engine::Delta delta) { stage_.apply({&delta, 1}); }
  void act(const boost::json::value& what);
  void act_on(std::string_view verb, const boost::json::value& with);
  void cycle(int32_t heads_per_queue);
  void note(const engine::Decision& decision);
  void confirm(const engine::CycleResult& result);
  void make_pods(const std::string& workload);
  void leave(const std::string& workload);
  void restart();

  void compare(const boost::json::object& expect, const std::string& where);
  void compare_admitted(const boost::json::value* want, const std::string& where);
  void compare_set(const std::string& what, const engine::WorkloadUpsert& got, size_t set,
                   const boost::json::object& want);
  void compare_pending(const boost::json::object& want, const std::string& where);
  void compare_evicted(const boost::json::object& expect, const std::string& where);
  void compare_bound(const boost::json::object& want, const std::string& where);
  void compare_quota(const boost::json::object& want, bool is_available, const std::string& where);
  void compare_placement(const boost::json::object& expect, const std::string& where);
  void play_cycles(const boost::json::object& expect, const std::string& where);
  void compare_shares(const boost::json::object& want, const std::string& where);
  void expect_equal(const std::string& what, const std::string& want, const std::string& got);
  std::string workload_name(engine::WorkloadId id) const {
    return reader_.names().workloads.name(id);
  }

  ScenarioReader& reader_;
  const boost::json::object& scenario_;
  ScenarioStage& stage_;
  Rng rng_{1};
  Time now_{seconds(1'000'000)};
  std::vector<engine::Delta> cluster_;  // to build it anew after a restart
  std::map<std::string, engine::NodeUpsert> nodes_;
  std::map<std::string, engine::WorkloadUpsert> work_;
  std::map<engine::PodId, engine::PodUpsert> pods_;
  uint32_t next_pod_ = 0;
  // Since the last expectation.
  std::set<std::string> admitted_;
  std::map<std::string, Evicted> evicted_;
  std::map<std::string, std::map<std::string, int32_t>> bound_;
  std::set<std::string> leaving_;    // told to go, and still there
  std::set<engine::PodId> failing_;  // whose next bind is refused
  std::vector<std::string> differences_;
};

}  // namespace tau::sim
