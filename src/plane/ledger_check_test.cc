#include "plane/ledger_check.h"

#include <gtest/gtest.h>

namespace tau::plane {
namespace {

struct World {
  kube::Stores stores;
  mirror::Names names;
  engine::View view;
  World() {
    kube::Node node;
    node.metadata.name = "n";
    node.metadata.annotations["taugrid.io/gpu-devices"] = "G0,G1";
    stores.get<kube::Node>().put(std::make_shared<const kube::Node>(node));
    view.nodes.push_back({.id = names.nodes.intern("n")});
  }
  void pod(const std::string& name, const std::string& gpu, const std::string& phase = "Running") {
    kube::Pod made;
    made.metadata = {.name = name, .namespace_ = "d", .uid = name};
    made.metadata.annotations["taugrid.io/gpus"] = "main=" + gpu;
    made.spec.node_name = "n";
    made.spec.containers = {{.name = "main", .resources = {.requests = {{"nvidia.com/gpu", "1"}}}}};
    made.status.phase = phase;
    stores.get<kube::Pod>().put(std::make_shared<const kube::Pod>(made));
  }
  void counted(engine::GpuMask mask, int64_t gpus) {
    view.nodes[0].gpus_used = mask;
    view.nodes[0].used = {{engine::gpu, gpus}};
  }
  std::vector<Drift> check() const { return check_ledger(names, stores, view); }
};
using Drifts = std::vector<Drift>;

TEST(LedgerCheck, NamesWhatIsInUseButCountedAsFree) {
  World w;
  EXPECT_EQ(w.check(), Drifts{});
  w.pod("a", "G0");
  EXPECT_EQ(w.check(), (Drifts{{"n", "1 GPUs in use are counted as free"}}));
  w.counted(0b01, 0);
  EXPECT_EQ(w.check(), (Drifts{{"n", "nvidia.com/gpu: pods use 1, counted are 0"}}));
  w.counted(0b01, 1);
  EXPECT_EQ(w.check(), Drifts{});
  w.counted(0b11, 2);
  EXPECT_EQ(w.check(), Drifts{}) << "a place held is no drift";
  w.pod("b", "G0");
  EXPECT_EQ(w.check(), (Drifts{{"n", "1 GPUs are given to two pods"}}));
  w.pod("b", "G0", "Succeeded");
  EXPECT_EQ(w.check(), Drifts{});
}

}  // namespace
}  // namespace tau::plane
