// LogHandler: answers GET .../pods/{name}/log from the runtime's logs.
#pragma once

#include <functional>

#include "embedded/kubelet/pod_reconciler.h"
#include "http/message.h"

namespace tau::kubelet {

class LogHandler : public http::Handler {
 public:
  using FindPod = std::function<kube::Store<kube::Pod>::Pointer(const std::string& ns,
                                                                const std::string& name)>;
  LogHandler(ContainerRuntime& runtime, const PodReconciler& pods, FindPod find_pod,
             std::function<Time()> now)
      : runtime_(runtime), pods_(pods), find_pod_(std::move(find_pod)), now_(std::move(now)) {}
  void handle(const http::Peer& peer, http::Request request,
              std::unique_ptr<http::ResponseSink> sink) override;

 private:
  ContainerRuntime& runtime_;
  const PodReconciler& pods_;
  FindPod find_pod_;
  std::function<Time()> now_;
};

}  // namespace tau::kubelet
