#include "controller/core/state/jobs/history_losses.h"

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

v1::Event LossOfAStore(Timestamp time_ms) {
  v1::Event event;
  event.set_time_ms(time_ms);
  event.mutable_store_data_lost()->set_store("logs");
  return event;
}

TEST(HistoryLossesTest, TheNewestSixteenLossesAreKeptWithTheirTimes) {
  ClusterState state;
  for (Timestamp time_ms = 1; time_ms <= 16; ++time_ms) AddLoss(LossOfAStore(time_ms), state);
  ASSERT_EQ(state.losses.size(), 16u);
  EXPECT_EQ(state.losses.front().time_ms(), 1);
  AddLoss(LossOfAStore(17), state);
  ASSERT_EQ(state.losses.size(), 16u);
  EXPECT_EQ(state.losses.front().time_ms(), 2);
  EXPECT_EQ(state.losses.back().time_ms(), 17);
  EXPECT_EQ(state.losses.back().store_data_lost().store(), "logs");
}

}  // namespace
}  // namespace trainyard::controller
