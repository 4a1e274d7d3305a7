// Tests kills of ranks, and ranks that survive a kill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/worker/core/action_text.h"
#include "worker/core/attempts.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

constexpr Timestamp kHalfInterval = kKillAgainMs / 2;

// Returns attempts of job 1. Rank 0 of attempt 1 runs as process `pid`, and attempt 2 waits until
// rank 0 has ended.
Attempts Superseded(int64_t pid) {
  Attempts attempts;
  attempts.Start(StartOf(1, 1, 1), 0);
  attempts.RankSpawned(Rank(1, 1, 0), pid, 5);
  attempts.Start(StartOf(1, 2, 1), 0);
  return attempts;
}

// At each of these times, delivers a kill to a rank that is blocked in the kernel. Returns all
// actions.
std::vector<std::string> KillInVain(Attempts& attempts, const std::vector<Timestamp>& times) {
  std::vector<std::string> texts;
  for (const Timestamp now : times) {
    for (const std::string& text : Text(attempts.RankKilled(Rank(1, 1, 0), true, now))) {
      texts.push_back(text);
    }
  }
  return texts;
}

std::string UnkillableText(const Attempts& attempts) {
  return attempts.Reports()[0].ranks(0).unkillable();
}

TEST(AttemptsKillTest, TheShortestGraceStillSendsATerm) {
  Attempts attempts = Running(1, 1);
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 1, 1), 1000)), ElementsAre("term 1/1/0"));
  EXPECT_THAT(Text(attempts.Tick(1001)), ElementsAre("kill 1/1/0"));
}

TEST(AttemptsKillTest, KillsExactlyHalfAnIntervalApartCount) {
  Attempts attempts = Superseded(100);
  EXPECT_THAT(KillInVain(attempts, {1000, 1000 + kHalfInterval, 1000 + 2 * kHalfInterval}),
              IsEmpty());
  EXPECT_THAT(KillInVain(attempts, {1000 + 3 * kHalfInterval}), ElementsAre("spawn 1/2/0"));
}

TEST(AttemptsKillTest, AKillSoonAfterTheFirstDoesNotCount) {
  Attempts attempts = Superseded(100);
  EXPECT_THAT(KillInVain(attempts, {1000, 1001, 1000 + kKillAgainMs, 1000 + 2 * kKillAgainMs}),
              IsEmpty());
  EXPECT_THAT(KillInVain(attempts, {1000 + 3 * kKillAgainMs}), ElementsAre("spawn 1/2/0"));
}

TEST(AttemptsKillTest, AProcessLeftByAnEndedRankCanBeUnkillable) {
  Attempts attempts = Superseded(100);
  attempts.RankEnded(ExitOf(1, 1, 0));
  EXPECT_THAT(KillInVain(attempts, {0, kKillAgainMs, 2 * kKillAgainMs, 3 * kKillAgainMs}),
              ElementsAre("spawn 1/2/0"));
  EXPECT_THAT(UnkillableText(attempts), StartsWith("a process of the rank has not ended after 4 "
                                                   "SIGKILLs, because it is stuck in the kernel"))
      << "the process of the rank itself has ended";
}

TEST(AttemptsKillTest, AnUnkillableProcessIsNamedIfItsNumberIsKnown) {
  struct Case {
    int64_t pid;
    const char* begin;
  };
  for (const Case& one :
       {Case{0, "a process of the rank has not ended"}, Case{1, "process 1 has not ended"}}) {
    Attempts attempts = Superseded(one.pid);
    KillInVain(attempts, {0, kKillAgainMs, 2 * kKillAgainMs, 3 * kKillAgainMs});
    EXPECT_THAT(UnkillableText(attempts), StartsWith(one.begin));
  }
}

TEST(AttemptsKillTest, AKillOfARankWithoutProcessesChangesNothing) {
  Attempts attempts = Running(1, 1);
  EXPECT_THAT(attempts.RankKilled(Rank(1, 1, 7), true, 0), IsEmpty()) << "an unknown rank";
  attempts.RankEnded(ExitOf(1, 1, 0));
  attempts.RankGone(Rank(1, 1, 0));
  EXPECT_THAT(KillInVain(attempts, {0, kKillAgainMs, 2 * kKillAgainMs, 3 * kKillAgainMs}),
              IsEmpty());
  EXPECT_EQ(UnkillableText(attempts), "");
}

TEST(AttemptsKillTest, OnlyARunningRankHasAProcessId) {
  Attempts attempts;
  EXPECT_EQ(attempts.PidOf(Rank(1, 1, 0)), 0);
  attempts.Start(StartOf(1, 1, 1), 0);
  EXPECT_EQ(attempts.PidOf(Rank(1, 1, 0)), 0);
  attempts.RankSpawned(Rank(1, 1, 0), 100, 5);
  EXPECT_EQ(attempts.PidOf(Rank(1, 1, 0)), 100);
  attempts.RankEnded(ExitOf(1, 1, 0));
  EXPECT_EQ(attempts.PidOf(Rank(1, 1, 0)), 0) << "another process may have the number now";
}

}  // namespace
}  // namespace trainyard::worker
