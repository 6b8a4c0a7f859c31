#include "history/memory_history.h"
#include "history/store_tests.h"

namespace tau::history {
namespace {

class MemoryMaker {
 public:
  HistoryStore& store() { return store_; }
  void reopen() {}

 private:
  MemoryHistory store_;
};
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, HistoryStores, MemoryMaker);

TEST(Merged, KeepsWhatATerminalRunHad) {
  RunRecord before{.uid = "u", .phase = "Failed", .attempts = {{}, {}}, .pods = {{}, {}}};
  const RunRecord kept = merged(&before, {.uid = "u", .phase = "Queued"});
  EXPECT_EQ(kept.phase, "Failed");
  EXPECT_EQ(kept.attempts.size(), 2u);
  EXPECT_EQ(kept.pods.size(), 2u);
}

}  // namespace
}  // namespace tau::history
