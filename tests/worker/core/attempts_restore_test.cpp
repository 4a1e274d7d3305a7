// Tests attempts that a worker finds on its disk when it starts.
#include "worker/core/attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/worker/core/action_text.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SeenAttempts Seen(int64_t job, int64_t attempt) {
  SeenAttempts seen;
  seen.Raise(job, attempt);
  return seen;
}

// Collects the facts among the actions and numbers them from 1, as the fact log does.
void Collect(const Actions& actions, std::vector<v1::Fact>& facts) {
  for (const Action& action : actions) {
    if (const auto* record = std::get_if<RecordFact>(&action)) {
      facts.push_back(record->fact);
      facts.back().set_sequence(facts.size());
    }
  }
}

TEST(AttemptsRestoreTest, RestoredRanksCountAsRunningUntilResolved) {
  Attempts attempts;
  attempts.Restore({}, {StartOf(1, 1, 2)}, {});
  EXPECT_THAT(attempts.RanksToObserve(), ElementsAre(Rank(1, 1, 0), Rank(1, 1, 1)));
  EXPECT_THAT(Text(attempts.Reports()), ElementsAre("1/1: 0 running 1 running"));
  EXPECT_THAT(attempts.Start(StartOf(1, 1, 2), 0), IsEmpty());
}

TEST(AttemptsRestoreTest, RestoreReplacesAllAttempts) {
  Attempts attempts = Running(1, 1);
  attempts.Restore({}, {StartOf(2, 1, 1)}, {});
  EXPECT_THAT(Text(attempts.Reports()), ElementsAre("2/1: 0 running"));
}

TEST(AttemptsRestoreTest, OnlyAnAttemptWithoutItsCommandIsLost) {
  Attempts attempts;
  attempts.Restore({}, {StartOf(1, 1, 1)}, {}, {StartOf(2, 1, 1)});
  EXPECT_FALSE(attempts.IsLost({1, 1}));
  EXPECT_TRUE(attempts.IsLost({2, 1}));
}

TEST(AttemptsRestoreTest, RestoreRecordsWhatTheWorkerMissed) {
  Attempts before;
  std::vector<v1::Fact> facts;
  before.Start(StartOf(1, 1, 2), 0);
  Collect(before.RankSpawned(Rank(1, 1, 0), 100, 5), facts);

  Attempts after;
  after.Restore(Seen(1, 1), {StartOf(1, 1, 2)}, facts);
  EXPECT_THAT(after.RankSpawned(Rank(1, 1, 0), 100, 5), IsEmpty());
  EXPECT_THAT(Text(after.RankSpawned(Rank(1, 1, 1), 101, 5)), ElementsAre("started 1/1/1"));
  EXPECT_THAT(Text(after.RankEnded(ExitOf(1, 1, 1, 9))), ElementsAre("exited 1/1/1 9"));
}

TEST(AttemptsRestoreTest, RestoreNeverRecordsAnExitTwice) {
  Attempts before = Running(1, 1);
  std::vector<v1::Fact> facts;
  Collect(before.RankEnded(ExitOf(1, 1, 0, 1)), facts);

  Attempts after;
  after.Restore(Seen(1, 1), {StartOf(1, 1, 1)}, facts);
  EXPECT_THAT(after.RanksToObserve(), ElementsAre(Rank(1, 1, 0)));
  EXPECT_THAT(after.RankEnded(ExitOf(1, 1, 0, 1)), IsEmpty());
  EXPECT_THAT(Text(after.RankGone(Rank(1, 1, 0))), ElementsAre("cleared 1/1"));
}

TEST(AttemptsRestoreTest, RestoreClearsAnExitWhoseFilesAreGone) {
  Attempts before = Running(1, 1);
  std::vector<v1::Fact> facts;
  Collect(before.RankEnded(ExitOf(1, 1, 0, 1)), facts);
  Attempts after;
  after.Restore({}, {StartOf(1, 1, 1)}, facts);
  EXPECT_THAT(Text(after.RankNeverSpawned(Rank(1, 1, 0))), ElementsAre("cleared 1/1"));
}

TEST(AttemptsRestoreTest, RestoreKeepsAClearedAttemptCleared) {
  Attempts before = Running(1, 1);
  std::vector<v1::Fact> facts;
  Collect(before.RankEnded(ExitOf(1, 1, 0)), facts);
  Collect(before.RankGone(Rank(1, 1, 0)), facts);
  Attempts after;
  after.Restore({}, {StartOf(1, 1, 1)}, facts);
  EXPECT_THAT(after.RanksToObserve(), IsEmpty());
  EXPECT_FALSE(after.AnyAlive());
  EXPECT_THAT(Text(after.Reports()), ElementsAre("1/1 cleared: 0"));
  EXPECT_THAT(Text(after.Forget(ForgetOf(1, 1))), ElementsAre("remove 1/1"));
}

TEST(AttemptsRestoreTest, RestoreOfAClearedAttemptThatNeverSpawnedLooksForNoRank) {
  Attempts before;
  before.Restore({}, {StartOf(1, 1, 1)}, {});
  before.Stop(StopOf(1, 1, 1000), 0);
  std::vector<v1::Fact> facts;
  Collect(before.RankNeverSpawned(Rank(1, 1, 0)), facts);
  ASSERT_EQ(facts.size(), 1u);
  Attempts after;
  after.Restore({}, {StartOf(1, 1, 1)}, facts);
  EXPECT_THAT(after.RanksToObserve(), IsEmpty());
  EXPECT_FALSE(after.AnyAlive());
  EXPECT_THAT(Text(after.Reports()), ElementsAre("1/1 cleared: 0"));
}

TEST(AttemptsRestoreTest, RestoredAttemptThatNeverSpawnedSpawnsNow) {
  Attempts attempts;
  attempts.Restore(Seen(1, 1), {StartOf(1, 1, 1)}, {});
  EXPECT_THAT(Text(attempts.RankNeverSpawned(Rank(1, 1, 0))), ElementsAre("spawn 1/1/0"));
}

TEST(AttemptsRestoreTest, RestoredAttemptThatIsSupersededNeverSpawns) {
  Attempts attempts;
  attempts.Restore(Seen(1, 4), {StartOf(1, 1, 1)}, {});
  EXPECT_THAT(Text(attempts.RankNeverSpawned(Rank(1, 1, 0))), ElementsAre("cleared 1/1"));
}

TEST(AttemptsRestoreTest, RestoreTakesTheNumberOfAFolderForSeen) {
  Attempts attempts;
  attempts.Restore({}, {StartOf(1, 6, 1)}, {});
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 5, 1), 0)), ElementsAre("refuse", "cleared 1/5"));
}

TEST(AttemptsRestoreTest, StopReachesARestoredRankOnceItIsFound) {
  Attempts attempts;
  attempts.Restore({}, {StartOf(1, 1, 1)}, {});
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 1, 1000), 0)), IsEmpty());
  EXPECT_THAT(Text(attempts.RankSpawned(Rank(1, 1, 0), 100, 5)),
              ElementsAre("started 1/1/0", "term 1/1/0"));
}

// Returns an attempt of which the worker knows only the job, the attempt number and the ranks.
v1::StartAttempt LostAttempt(int64_t attempt_number) {
  v1::StartAttempt command;
  command.set_job_id(1);
  command.set_attempt(attempt_number);
  command.add_processes()->add_ranks()->set_rank(0);
  return command;
}

TEST(AttemptsRestoreTest, LostAttemptIsStoppedWithAGraceAndThenKilled) {
  Attempts attempts;
  attempts.Restore({}, {}, {}, {LostAttempt(1)});
  EXPECT_THAT(Text(attempts.RankSpawned(Rank(1, 1, 0), 100, 5)), ElementsAre("started 1/1/0"));
  EXPECT_THAT(Text(attempts.Tick(1000)), ElementsAre("term 1/1/0"));
  EXPECT_THAT(Text(attempts.Tick(1000 + kLostGraceMs - 1)), IsEmpty());
  EXPECT_THAT(Text(attempts.Tick(1000 + kLostGraceMs)), ElementsAre("kill 1/1/0"));
  EXPECT_TRUE(attempts.IsLost({1, 1}));
}

TEST(AttemptsRestoreTest, NoRankOfALostAttemptIsSpawned) {
  Attempts attempts;
  attempts.Restore({}, {}, {}, {LostAttempt(1)});
  EXPECT_THAT(Text(attempts.RankNeverSpawned(Rank(1, 1, 0))), ElementsAre("cleared 1/1"));
}

TEST(AttemptsRestoreTest, NewerAttemptWaitsForTheProcessesOfALostOne) {
  Attempts attempts;
  attempts.Restore({}, {}, {}, {LostAttempt(1)});
  attempts.RankSpawned(Rank(1, 1, 0), 100, 5);
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 2, 1), 0)),
              ElementsAre("create 1/2", "attempt 1/2", "kill 1/1/0"));
  attempts.RankEnded(ExitOf(1, 1, 0, 137));
  EXPECT_THAT(Text(attempts.RankGone(Rank(1, 1, 0))), ElementsAre("cleared 1/1", "spawn 1/2/0"));
}

}  // namespace
}  // namespace trainyard::worker
