#include "controller/core/state/history_losses.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(HistoryLossesTest, OnlySkippedJobNumbersAreLost) {
  ClusterState state;
  SkipNumbers(0, 50, state);
  EXPECT_THAT(state.lost_jobs, IsEmpty());
  EXPECT_EQ(state.restored_attempt, 50);
  SkipNumbers(10, 50, state);
  EXPECT_THAT(state.lost_jobs, ElementsAre(Pair(1, 11)));
  EXPECT_EQ(state.next_job_id, 11);
}

}  // namespace
}  // namespace trainyard::controller
