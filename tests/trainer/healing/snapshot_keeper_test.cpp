#include "trainer/healing/snapshot_keeper.h"

#include <gmock/gmock.h>

#include <latch>

#include "tests/trainer/parallel/in_memory_group.h"
#include "tests/trainer/parallel/run_ranks.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::UnorderedElementsAre;

// The ward, the rank whose state this keeper stores, dies while it sends the state after step 2.
// Some pieces may have arrived.
TEST(SnapshotKeeperTest, AnExchangeThatFailedLeavesNoStateOfTheWard) {
  InMemoryNetwork network;
  std::latch has_begun(1), has_died(1);
  RunThreads(2, [&](int64_t rank) {
    const LayoutConfig layout{.dp = 2, .zero = 1};
    const auto ranks = network.Connect({.name = "snapshots", .ranks = {0, 1}, .my_rank = rank});
    const torch::Tensor piece = torch::full({4}, static_cast<double>(rank));
    SnapshotMemory memory;
    {
      SnapshotKeeper keeper(
          {memory, *ranks, Buddies(Mesh(layout), layout, 2), {piece}, {}, torch::kCPU});
      keeper.Reserve();
      keeper.TakeNow(1, json::object());
      if (rank == 1) {
        has_begun.wait();
        network.AbortAll();
        has_died.count_down();
        return;
      }
      keeper.AfterLaunch(2);
      keeper.Confirm(
          2, [] { return json::object(); }, 0);
      has_begun.count_down();
      has_died.wait();
      EXPECT_THROW(keeper.BeforeLaunch(3), TrainerError);
    }
    EXPECT_THAT(memory.Held().own, UnorderedElementsAre(1, 2));
    EXPECT_THAT(memory.Held().ward, UnorderedElementsAre(1));
  });
}

}  // namespace
}  // namespace trainyard::trainer
