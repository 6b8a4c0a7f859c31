// history_recorder: run records from what the stores show. A record only ever gains facts: what an
// object said once stays, also when the object is gone.
#pragma once

#include <map>
#include <optional>

#include "history/records.h"
#include "kube/reconciler.h"

namespace tau::control {

// r- and the first six hex digits of a root object's uid.
std::string run_id(std::string_view uid);

class HistoryRecorder {
 public:
  static std::span<const kube::Kind> watches();
  // What was recorded before a restart; later facts are added to it.
  void restore(history::RunRecord run);
  // Takes a change in; the run that it belongs to is then in take_changed().
  void on_change(const kube::Stores& stores, const kube::AnyChange& change, Time now);
  // Runs whose Job went while nobody looked: it is in no list any more.
  void end_unseen(const kube::Stores& stores, Time now);
  std::vector<history::RunRecord> take_changed();

 private:
  history::RunRecord* run_of(const std::string& uid);
  void see_job(const kube::Stores& stores, const kube::Change<kube::Job>& change, Time now);
  void see_pod(const kube::Stores& stores, const kube::Change<kube::Pod>& change, Time now);
  void see_workload(const kube::Change<kube::Workload>& change, Time now);
  void touch(const std::string& uid) { changed_.insert(uid); }

  std::map<std::string, history::RunRecord> runs_;  // live ones, by root uid
  std::set<std::string> changed_;
};

}  // namespace tau::control
