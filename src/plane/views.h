// Views: the read-only answers of view.taugrid.io/v1alpha1, made from the stores, the engine's last
// view and history. The paths are listed in kube/views.h.
#pragma once

#include <functional>
#include <map>

#include "engine/engine.h"
#include "history/records.h"
#include "http/message.h"
#include "kube/store.h"
#include "kube/views.h"
#include "mirror/names.h"

namespace tau::plane {

class Views : public http::Handler {
 public:
  Views(const kube::Stores& stores, const history::HistoryStore& history, std::function<Time()> now)
      : stores_(stores), history_(history), now_(std::move(now)) {}
  // What the engine saw in its last cycle, translated once so that answers never touch the engine.
  void take(const mirror::Names& names, const engine::View& view, Time evaluated);
  void handle(const http::Peer& peer, http::Request request,
              std::unique_ptr<http::ResponseSink> sink) override;

  std::vector<kube::RunView> runs(const history::RunQuery& query, bool with_history) const;
  std::vector<kube::QueueView> queues() const;
  std::vector<kube::NodeView> nodes() const;

 private:
  kube::RunView run_view(const history::RunRecord& record) const;
  void add_live(kube::RunView& run) const;
  void answer_runs(http::ResponseSink& sink, const history::RunQuery& query, bool with_history,
                   bool is_single) const;

  const kube::Stores& stores_;
  const history::HistoryStore& history_;
  std::function<Time()> now_;
  std::map<std::string, std::vector<kube::BlockerView>> blockers_;  // by Workload uid, or pod uid
  struct QueueUse {
    int64_t pending = 0, admitted = 0;
    std::vector<kube::QueueResourceView> resources;
  };
  std::map<std::string, QueueUse> queue_use_;
  std::optional<Time> evaluated_;
};

}  // namespace tau::plane
