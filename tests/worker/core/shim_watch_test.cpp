#include "worker/core/shim_watch.h"

#include <gtest/gtest.h>

namespace trainyard::worker {
namespace {

using Step = ShimWatch::Step;

constexpr RankKey kRank{{1, 1}, 0};
constexpr RankKey kOther{{1, 1}, 1};

TEST(ShimWatchTest, WakesOnceThenKillsAShimThatStaysOverdue) {
  ShimWatch watch;
  EXPECT_EQ(watch.Note(kRank, true, 1000), Step::kNone);
  EXPECT_EQ(watch.Note(kRank, true, 1000 + ShimWatch::kWakeAfterMs - 1), Step::kNone);
  EXPECT_EQ(watch.Note(kRank, true, 1000 + ShimWatch::kWakeAfterMs), Step::kWake);
  EXPECT_EQ(watch.Note(kRank, true, 1000 + ShimWatch::kKillAfterMs - 1), Step::kNone);
  EXPECT_EQ(watch.Note(kRank, true, 1000 + ShimWatch::kKillAfterMs), Step::kKill);
}

TEST(ShimWatchTest, AReportBeginsAnew) {
  ShimWatch watch;
  watch.Note(kRank, true, 0);
  EXPECT_EQ(watch.Note(kOther, true, ShimWatch::kKillAfterMs), Step::kNone) << "of its own";
  EXPECT_EQ(watch.Note(kRank, false, ShimWatch::kKillAfterMs), Step::kNone);
  EXPECT_EQ(watch.Note(kRank, true, ShimWatch::kKillAfterMs), Step::kNone);
  watch.Forget(kRank.attempt);
  EXPECT_EQ(watch.Note(kRank, true, 5 * ShimWatch::kKillAfterMs), Step::kNone);
}

}  // namespace
}  // namespace trainyard::worker
