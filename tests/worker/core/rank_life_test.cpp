#include "worker/core/rank_life.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::worker {
namespace {

using Stage = RankLife::Stage;

TEST(RankLifeTest, OnlyKillsInARowMakeARankUnkillable) {
  RankLife rank{.stage = Stage::kRunning};
  Timestamp now = 1000;
  const auto kill = [&](bool waits_in_kernel) {
    now += kKillAgainMs;
    return rank.Killed(waits_in_kernel, now);
  };
  for (int i = 1; i < kUnkillableAfterKills; ++i) EXPECT_FALSE(kill(true)) << i;
  EXPECT_FALSE(kill(false));
  for (int i = 1; i < kUnkillableAfterKills; ++i) EXPECT_FALSE(kill(true)) << i;
  EXPECT_TRUE(rank.MayRun());
  EXPECT_FALSE(rank.Killed(true, now)) << "too soon after the last one";
  EXPECT_TRUE(kill(true));
  EXPECT_TRUE(rank.IsAlive());
  EXPECT_FALSE(rank.MayRun());
  EXPECT_FALSE(kill(true)) << "it is unkillable already";
}

TEST(RankLifeTest, ARankWithoutAProcessCannotBeKilledInVain) {
  for (const Stage stage :
       {Stage::kWaiting, Stage::kSpawning, Stage::kUnresolved, Stage::kGone, Stage::kCancelled}) {
    RankLife rank{.stage = stage};
    for (int i = 1; i <= kUnkillableAfterKills; ++i) {
      EXPECT_FALSE(rank.Killed(true, i * kKillAgainMs)) << rank.Name();
    }
    EXPECT_FALSE(rank.unkillable) << rank.Name();
  }
}

TEST(RankLifeTest, TheTextNamesTheProcessOfARunningRank) {
  EXPECT_THAT((RankLife{.stage = Stage::kRunning, .pid = 7}.UnkillableText()),
              testing::StartsWith("process 7 has not ended"));
  EXPECT_THAT((RankLife{.stage = Stage::kExiting, .pid = 7}.UnkillableText()),
              testing::StartsWith("a process of the rank has not ended"));
}

}  // namespace
}  // namespace trainyard::worker
