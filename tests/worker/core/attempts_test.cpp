#include "worker/core/attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/worker/core/action_text.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(AttemptsTest, StartWritesTheFolderAndTheNumberBeforeItSpawns) {
  Attempts attempts;
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 1, 2), 0)),
              ElementsAre("create 1/1", "attempt 1/1", "spawn 1/1/0", "spawn 1/1/1"));
  EXPECT_TRUE(attempts.IsSpawning(Rank(1, 1, 0)));
  EXPECT_TRUE(attempts.AnyAlive());
}

TEST(AttemptsTest, StartRepeatedDoesNothing) {
  Attempts attempts = Running(1, 2);
  EXPECT_THAT(attempts.Start(StartOf(1, 1, 2), 10), IsEmpty());
}

TEST(AttemptsTest, RecordsStartExitAndClearedInOrder) {
  Attempts attempts;
  attempts.Start(StartOf(1, 1, 2), 0);
  EXPECT_THAT(Text(attempts.RankSpawned(Rank(1, 1, 0), 100, 5)), ElementsAre("started 1/1/0"));
  EXPECT_THAT(Text(attempts.RankSpawned(Rank(1, 1, 1), 101, 5)), ElementsAre("started 1/1/1"));
  EXPECT_THAT(Text(attempts.RankEnded(ExitOf(1, 1, 1, 3))), ElementsAre("exited 1/1/1 3"));
  EXPECT_THAT(attempts.RankGone(Rank(1, 1, 1)), IsEmpty());
  EXPECT_THAT(Text(attempts.RankEnded(ExitOf(1, 1, 0))), ElementsAre("exited 1/1/0 0"));
  EXPECT_THAT(Text(attempts.RankGone(Rank(1, 1, 0))), ElementsAre("cleared 1/1"));
  EXPECT_FALSE(attempts.AnyAlive());
}

TEST(AttemptsTest, StartedFactCarriesPidAndTime) {
  Attempts attempts;
  attempts.Start(StartOf(1, 1, 1), 0);
  const Actions actions = attempts.RankSpawned(Rank(1, 1, 0), 4711, 1234);
  ASSERT_EQ(actions.size(), 1u);
  const v1::RankStarted& started = std::get<RecordFact>(actions[0]).fact.rank_started();
  EXPECT_EQ(started.pid(), 4711);
  EXPECT_EQ(started.time_ms(), 1234);
}

TEST(AttemptsTest, RepeatedAnswersRecordNothingTwice) {
  Attempts attempts = Running(1, 2);
  EXPECT_THAT(attempts.RankSpawned(Rank(1, 1, 0), 100, 5), IsEmpty());
  attempts.RankEnded(ExitOf(1, 1, 0));
  EXPECT_THAT(attempts.RankEnded(ExitOf(1, 1, 0)), IsEmpty());
  EXPECT_THAT(attempts.RankSpawned(Rank(1, 1, 0), 100, 5), IsEmpty());
  attempts.RankGone(Rank(1, 1, 0));
  EXPECT_THAT(attempts.RankGone(Rank(1, 1, 0)), IsEmpty());
  EXPECT_THAT(attempts.RankEnded(ExitOf(1, 1, 0)), IsEmpty());
}

TEST(AttemptsTest, NotClearedWhileProcessesRemain) {
  Attempts attempts = Running(1, 1);
  EXPECT_THAT(Text(attempts.RankEnded(ExitOf(1, 1, 0, 1))), ElementsAre("exited 1/1/0 1"));
  EXPECT_TRUE(attempts.AnyAlive());
  EXPECT_FALSE(attempts.IsGone(Rank(1, 1, 0)));
  EXPECT_THAT(Text(attempts.Reports()), ElementsAre("1/1: 0"));
  attempts.RankGone(Rank(1, 1, 0));
  EXPECT_TRUE(attempts.IsGone(Rank(1, 1, 0)));
  EXPECT_THAT(Text(attempts.Reports()), ElementsAre("1/1 cleared: 0"));
}

TEST(AttemptsTest, FailedSpawnEndsTheRankAtOnce) {
  Attempts attempts;
  attempts.Start(StartOf(1, 1, 1), 0);
  v1::RankExited exited = ExitOf(1, 1, 0, 127);
  exited.set_spawn_error("no such program");
  EXPECT_THAT(Text(attempts.RankEnded(exited)), ElementsAre("exited 1/1/0 127", "cleared 1/1"));
}

TEST(AttemptsTest, FailedCreationEndsEveryRankWithItsError) {
  Attempts attempts;
  attempts.Start(StartOf(1, 1, 2), 0);
  const Actions actions = attempts.CreationFailed({1, 1}, "disk full", v1::START_FAULT_NODE, 77);
  EXPECT_THAT(Text(actions), ElementsAre("exited 1/1/0 127", "exited 1/1/1 127", "cleared 1/1"));
  const v1::RankExited& exited = std::get<RecordFact>(actions[0]).fact.rank_exited();
  EXPECT_EQ(exited.spawn_error(), "disk full");
  EXPECT_EQ(exited.start_fault(), v1::START_FAULT_NODE);
  EXPECT_EQ(exited.time_ms(), 77);
  EXPECT_FALSE(attempts.IsSpawning(Rank(1, 1, 0)));
}

TEST(AttemptsTest, StopTermsAndKillsAfterTheGrace) {
  Attempts attempts = Running(1, 2);
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 1, 1500), 1000)),
              ElementsAre("term 1/1/0", "term 1/1/1"));
  EXPECT_THAT(attempts.Tick(2499), IsEmpty());
  attempts.RankEnded(ExitOf(1, 1, 0, 143));
  EXPECT_THAT(Text(attempts.Tick(2500)), ElementsAre("kill 1/1/0", "kill 1/1/1"))
      << "also what an ended rank has left";
  EXPECT_THAT(attempts.Tick(2600), IsEmpty());
}

TEST(AttemptsTest, KillIsSentAgainUntilTheRankEnds) {
  Attempts attempts = Running(1, 1);
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 1, 0), 1000)), ElementsAre("kill 1/1/0"));
  EXPECT_THAT(Text(attempts.Tick(1000 + kKillAgainMs)), ElementsAre("kill 1/1/0"));
  attempts.RankEnded(ExitOf(1, 1, 0));
  attempts.RankGone(Rank(1, 1, 0));
  EXPECT_THAT(attempts.Tick(1000 + 2 * kKillAgainMs), IsEmpty());
}

// The process is blocked in the kernel, so its attempt is not cleared and keeps its slot.
// Nevertheless, the next attempt of the job may start on other slots.
TEST(AttemptsTest, AProcessThatCannotBeKilledHoldsUpNoNewerAttempt) {
  Attempts attempts = Running(1, 2);
  attempts.Start(StartOf(1, 2, 1), 1000);
  attempts.RankEnded(ExitOf(1, 1, 0));
  attempts.RankGone(Rank(1, 1, 0));
  for (int i = 0; i < kUnkillableAfterKills - 1; ++i) {
    EXPECT_THAT(attempts.RankKilled(Rank(1, 1, 1), true, 1000 + i * kKillAgainMs), IsEmpty());
    EXPECT_THAT(Text(attempts.Tick(1000 + (i + 1) * kKillAgainMs)), ElementsAre("kill 1/1/1"));
  }
  EXPECT_EQ(attempts.Reports()[0].ranks(1).unkillable(), "");
  EXPECT_THAT(Text(attempts.RankKilled(Rank(1, 1, 1), true, 1000 + 3 * kKillAgainMs)),
              ElementsAre("spawn 1/2/0"));
  EXPECT_EQ(attempts.Reports()[0].ranks(0).unkillable(), "");
  EXPECT_THAT(attempts.Reports()[0].ranks(1).unkillable(),
              testing::StartsWith("process 100 has not ended after 4 SIGKILLs"));
  EXPECT_FALSE(attempts.Reports()[0].cleared());
  attempts.RankEnded(ExitOf(1, 1, 1));
  EXPECT_THAT(Text(attempts.RankGone(Rank(1, 1, 1))), ElementsAre("cleared 1/1"));
  EXPECT_EQ(attempts.Reports()[0].ranks(1).unkillable(), "");
}

// Kills may wait in a queue behind launches of other ranks. A rank that has not received its kill
// may still be training, so it must not be reported as unkillable.
TEST(AttemptsTest, KillsThatAreNotDeliveredMakeNoProcessUnkillable) {
  Attempts attempts = Running(1, 1);
  attempts.Start(StartOf(1, 2, 1), 0);
  for (int i = 1; i <= 20; ++i) {
    EXPECT_THAT(Text(attempts.Tick(i * kKillAgainMs)), ElementsAre("kill 1/1/0"));
  }
  EXPECT_EQ(attempts.Reports()[0].ranks(0).unkillable(), "");
}

// Delayed kills may be delivered all at once: when the launches queued before them have ended, or
// when a paused worker resumes. Such kills must not count as separate kills.
TEST(AttemptsTest, KillsThatComeTogetherMakeNoProcessUnkillable) {
  Attempts attempts = Running(1, 1);
  attempts.Start(StartOf(1, 2, 1), 0);
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(attempts.RankKilled(Rank(1, 1, 0), true, 60'000 + i), IsEmpty());
  }
  EXPECT_EQ(attempts.Reports()[0].ranks(0).unkillable(), "");
}

TEST(AttemptsTest, KillsLessThanHalfAnIntervalApartCountOnce) {
  Attempts attempts = Running(1, 1);
  attempts.Start(StartOf(1, 2, 1), 0);
  for (int i = 0; i < kUnkillableAfterKills; ++i) {
    const Timestamp now = i * (kKillAgainMs / 2 - 1);
    EXPECT_THAT(attempts.RankKilled(Rank(1, 1, 0), true, now), IsEmpty());
  }
  EXPECT_EQ(attempts.Reports()[0].ranks(0).unkillable(), "");
}

// A process in disk I/O is also in uninterruptible sleep, but only briefly. Such a process must not
// be reported as unkillable.
TEST(AttemptsTest, AProcessThatRunsBetweenTwoKillsIsNotUnkillable) {
  Attempts attempts = Running(1, 1);
  attempts.Start(StartOf(1, 2, 1), 0);
  for (int i = 0; i < 20; ++i) {
    const bool waits_in_kernel = i % kUnkillableAfterKills != 0;
    EXPECT_THAT(attempts.RankKilled(Rank(1, 1, 0), waits_in_kernel, i * kKillAgainMs), IsEmpty());
  }
  EXPECT_EQ(attempts.Reports()[0].ranks(0).unkillable(), "");
}

TEST(AttemptsTest, AStopCancelsRanksThatAreBeingSpawned) {
  Attempts attempts;
  attempts.Start(StartOf(1, 1, 1), 0);
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 1, 1000), 0)), ElementsAre("cancel 1/1/0"));
  EXPECT_THAT(attempts.Stop(StopOf(1, 1, 1000), 10), IsEmpty());
  v1::RankExited failed = ExitOf(1, 1, 0, kSpawnFailedExitCode);
  failed.set_spawn_error("stopped");
  EXPECT_THAT(Text(attempts.RankEnded(failed)), ElementsAre("exited 1/1/0 127", "cleared 1/1"));
}

TEST(AttemptsTest, StopRepeatedNeitherTermsAgainNorDelaysTheKill) {
  Attempts attempts = Running(1, 1);
  attempts.Stop(StopOf(1, 1, 5000), 0);
  EXPECT_THAT(attempts.Stop(StopOf(1, 1, 5000), 3000), IsEmpty());
  EXPECT_THAT(attempts.Tick(4999), IsEmpty());
  EXPECT_THAT(Text(attempts.Tick(5000)), ElementsAre("kill 1/1/0"));
  EXPECT_THAT(attempts.Stop(StopOf(1, 1, 5000), 5100), IsEmpty());
}

TEST(AttemptsTest, ShorterGraceBringsTheKillForward) {
  Attempts attempts = Running(1, 1);
  attempts.Stop(StopOf(1, 1, 60000), 0);
  EXPECT_THAT(attempts.Stop(StopOf(1, 1, 2000), 1000), IsEmpty());
  EXPECT_THAT(attempts.Tick(2999), IsEmpty());
  EXPECT_THAT(Text(attempts.Tick(3000)), ElementsAre("kill 1/1/0"));

  Attempts other = Running(1, 1);
  other.Stop(StopOf(1, 1, 60000), 0);
  EXPECT_THAT(Text(other.Stop(StopOf(1, 1, 0), 1500)), ElementsAre("kill 1/1/0"));
}

TEST(AttemptsTest, StopOfAnUnknownAttemptClearsItAndBarsItsNumber) {
  Attempts attempts;
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 3, 0), 0)), ElementsAre("attempt 1/3", "cleared 1/3"));
  EXPECT_THAT(Text(attempts.Reports()), ElementsAre("1/3 cleared:"));
  EXPECT_THAT(attempts.Stop(StopOf(1, 3, 0), 5), IsEmpty());
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 2, 1), 6)), ElementsAre("refuse", "cleared 1/2"));
  EXPECT_THAT(attempts.Start(StartOf(1, 3, 1), 7), IsEmpty());
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 4, 1), 8)),
              ElementsAre("create 1/4", "attempt 1/4", "spawn 1/4/0"));
}

TEST(AttemptsTest, UnknownAttemptLeavesMemoryOnceItsClearedIsStored) {
  Attempts attempts;
  attempts.Stop(StopOf(1, 3, 0), 0);
  attempts.ClearedAcknowledged({1, 3});
  EXPECT_THAT(attempts.Reports(), IsEmpty());
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 3, 1), 1)), ElementsAre("refuse", "cleared 1/3"));
  EXPECT_THAT(attempts.Stop(StopOf(1, 3, 0), 2), IsEmpty());
  attempts.ClearedAcknowledged({1, 3});
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 3, 0), 3)), ElementsAre("cleared 1/3"));
}

TEST(AttemptsTest, AttemptWithRanksStaysUntilForgotten) {
  Attempts attempts = Running(1, 1);
  attempts.RankEnded(ExitOf(1, 1, 0));
  attempts.RankGone(Rank(1, 1, 0));
  attempts.ClearedAcknowledged({1, 1});
  EXPECT_TRUE(attempts.Contains({1, 1}));
  EXPECT_THAT(Text(attempts.Forget(ForgetOf(1, 1))), ElementsAre("remove 1/1"));
  EXPECT_THAT(attempts.Forget(ForgetOf(1, 1)), IsEmpty());
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 1, 1), 9)), ElementsAre("refuse", "cleared 1/1"));
  EXPECT_THAT(attempts.Start(StartOf(1, 1, 1), 10), IsEmpty()) << "it was answered";
  attempts.ClearedAcknowledged({1, 1});
  EXPECT_FALSE(attempts.Contains({1, 1}));
}

TEST(AttemptsTest, AStartOfAnAttemptWhoseEndTheControllerHasLostIsAnswered) {
  Attempts attempts = Running(1, 1);
  attempts.RankEnded(ExitOf(1, 1, 0));
  attempts.RankGone(Rank(1, 1, 0));
  EXPECT_THAT(attempts.Start(StartOf(1, 1, 1), 9), IsEmpty()) << "its end is on the way";
  attempts.ClearedAcknowledged({1, 1});
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 1, 1), 10)), ElementsAre("cleared 1/1"));
  EXPECT_THAT(attempts.Start(StartOf(1, 1, 1), 11), IsEmpty());
}

TEST(AttemptsTest, ForgetIsRefusedWhileProcessesLive) {
  Attempts attempts = Running(1, 1);
  EXPECT_THAT(Text(attempts.Forget(ForgetOf(1, 1))), ElementsAre("refuse"));
  attempts.RankEnded(ExitOf(1, 1, 0));
  EXPECT_THAT(Text(attempts.Forget(ForgetOf(1, 1))), ElementsAre("refuse"));
  EXPECT_TRUE(attempts.Contains({1, 1}));
}

TEST(AttemptsTest, StopReachesOlderAttemptsOfTheJobOnly) {
  Attempts attempts = Running(2, 1);
  attempts.Start(StartOf(7, 1, 1), 0);
  attempts.RankSpawned(Rank(7, 1, 0), 200, 5);
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 5, 1000), 0)), ElementsAre("attempt 1/5", "term 1/2/0"));
  // The newer attempt must not be reported as cleared before all processes of the older attempt are
  // gone.
  attempts.RankEnded(ExitOf(1, 2, 0));
  EXPECT_THAT(Text(attempts.RankGone(Rank(1, 2, 0))), ElementsAre("cleared 1/2", "cleared 1/5"));
}

TEST(AttemptsTest, StopOfAnOlderAttemptLeavesTheNewerAttemptAlone) {
  Attempts attempts = Running(5, 1);
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 4, 0), 0)), ElementsAre("cleared 1/4"));
  EXPECT_TRUE(attempts.AnyAlive());
}

TEST(AttemptsTest, OlderAttemptIsRefused) {
  Attempts attempts = Running(5, 1);
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 4, 1), 0)), ElementsAre("refuse", "cleared 1/4"));
}

TEST(AttemptsTest, NewerAttemptKillsTheOlderAttemptBeforeItSpawns) {
  Attempts attempts = Running(1, 2);
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 2, 1), 100)),
              ElementsAre("create 1/2", "attempt 1/2", "kill 1/1/0", "kill 1/1/1"));
  EXPECT_FALSE(attempts.IsSpawning(Rank(1, 2, 0)));
  attempts.RankEnded(ExitOf(1, 1, 0));
  attempts.RankGone(Rank(1, 1, 0));
  EXPECT_THAT(Text(attempts.RankEnded(ExitOf(1, 1, 1))), ElementsAre("exited 1/1/1 0"));
  EXPECT_THAT(Text(attempts.RankGone(Rank(1, 1, 1))), ElementsAre("cleared 1/1", "spawn 1/2/0"));
}

TEST(AttemptsTest, WaitingAttemptThatIsStoppedNeverSpawns) {
  Attempts attempts = Running(1, 1);
  attempts.Start(StartOf(1, 2, 1), 0);
  EXPECT_THAT(attempts.Stop(StopOf(1, 2, 1000), 10), IsEmpty());
  attempts.RankEnded(ExitOf(1, 1, 0));
  EXPECT_THAT(Text(attempts.RankGone(Rank(1, 1, 0))), ElementsAre("cleared 1/1", "cleared 1/2"));
}

TEST(AttemptsTest, ThirdAttemptSupersedesTheOneThatWaits) {
  Attempts attempts = Running(1, 1);
  attempts.Start(StartOf(1, 2, 1), 0);
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 3, 1), 10)), ElementsAre("create 1/3", "attempt 1/3"));
  attempts.RankEnded(ExitOf(1, 1, 0));
  EXPECT_THAT(Text(attempts.RankGone(Rank(1, 1, 0))),
              ElementsAre("cleared 1/1", "cleared 1/2", "spawn 1/3/0"));
}

TEST(AttemptsTest, JobsDoNotWaitForEachOther) {
  Attempts attempts = Running(1, 1);
  EXPECT_THAT(Text(attempts.Start(StartOf(2, 1, 1), 0)),
              ElementsAre("create 2/1", "attempt 2/1", "spawn 2/1/0"));
}

TEST(AttemptsTest, RankSpawnedWhileStoppingGetsTheSignalThatIsDue) {
  Attempts attempts;
  attempts.Start(StartOf(1, 1, 2), 0);
  // Both ranks have already been launched, so the cancels come too late.
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 1, 1000), 0)),
              ElementsAre("cancel 1/1/0", "cancel 1/1/1"));
  EXPECT_THAT(Text(attempts.RankSpawned(Rank(1, 1, 0), 100, 5)),
              ElementsAre("started 1/1/0", "term 1/1/0"));
  EXPECT_THAT(Text(attempts.Tick(1000)), ElementsAre("kill 1/1/0"));
  EXPECT_THAT(Text(attempts.RankSpawned(Rank(1, 1, 1), 101, 5)),
              ElementsAre("started 1/1/1", "kill 1/1/1"));
}

TEST(AttemptsTest, StopAllUsesEachJobsGraceUpToTheCap) {
  Attempts attempts;
  v1::StartAttempt patient = StartOf(1, 1, 1);
  patient.mutable_spec()->mutable_stop_grace()->set_seconds(60);
  v1::StartAttempt quick = StartOf(2, 1, 1);
  quick.mutable_spec()->mutable_stop_grace()->set_seconds(3);
  attempts.Start(patient, 0);
  attempts.Start(quick, 0);
  attempts.RankSpawned(Rank(1, 1, 0), 100, 5);
  attempts.RankSpawned(Rank(2, 1, 0), 101, 5);
  EXPECT_THAT(Text(attempts.StopAll(10000, 0)), ElementsAre("term 1/1/0", "term 2/1/0"));
  EXPECT_THAT(Text(attempts.Tick(3000)), ElementsAre("kill 2/1/0"));
  EXPECT_THAT(Text(attempts.Tick(9999)), ElementsAre("kill 2/1/0"));
  EXPECT_THAT(Text(attempts.Tick(10000)), ElementsAre("kill 1/1/0"));
}

TEST(AttemptsTest, StopAllKillsAtOnceWhereTheJobHasNoGrace) {
  Attempts attempts = Running(1, 1);
  EXPECT_THAT(Text(attempts.StopAll(10000, 0)), ElementsAre("kill 1/1/0"));
}

TEST(AttemptsTest, StopAllOfNothingIsQuiet) {
  Attempts attempts;
  EXPECT_THAT(attempts.StopAll(10000, 0), IsEmpty());
  EXPECT_THAT(attempts.Tick(10000), IsEmpty());
}

TEST(AttemptsTest, ContradictoryCommandsAreRefused) {
  Attempts attempts;
  EXPECT_THAT(Text(attempts.Start(StartOf(0, 1, 1), 0)), ElementsAre("refuse"));
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 0, 1), 0)), ElementsAre("refuse"));
  EXPECT_THAT(Text(attempts.Start(StartOf(1, 1, 0), 0)), ElementsAre("refuse"));
  v1::StartAttempt outside = StartOf(1, 1, 2);
  outside.set_world_size(1);
  EXPECT_THAT(Text(attempts.Start(outside, 0)), ElementsAre("refuse"));
  v1::StartAttempt twice = StartOf(1, 1, 2);
  twice.mutable_processes(1)->mutable_ranks(0)->set_rank(0);
  EXPECT_THAT(Text(attempts.Start(twice, 0)), ElementsAre("refuse"));
  v1::StartAttempt empty = StartOf(1, 1, 1);
  empty.mutable_processes(0)->clear_ranks();
  EXPECT_THAT(Text(attempts.Start(empty, 0)), ElementsAre("refuse"));
  v1::StartAttempt negative = StartOf(1, 1, 1);
  negative.mutable_processes(0)->mutable_ranks(0)->set_rank(-1);
  EXPECT_THAT(Text(attempts.Start(negative, 0)), ElementsAre("refuse"));
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 0, 0), 0)), ElementsAre("refuse"));
  EXPECT_THAT(Text(attempts.Stop(StopOf(0, 1, 0), 0)), ElementsAre("refuse"));
  EXPECT_THAT(attempts.Reports(), IsEmpty());
}

TEST(AttemptsTest, RanksAreShownWithTheirStageUntilTheAttemptIsCleared) {
  Attempts attempts = Running(1, 2);
  v1::StartAttempt next = StartOf(1, 2, 1);
  next.mutable_processes(0)->set_slots(0, 5);
  attempts.Start(next, 0);
  attempts.RankEnded(ExitOf(1, 1, 1));
  const auto shown = [&] {
    std::vector<std::string> texts;
    for (const RankView& view : attempts.Ranks()) {
      const AttemptKey& key = view.key.attempt;
      texts.push_back(absl::StrCat(key.job_id, "/", key.number, "/", view.key.rank, " slot ",
                                   view.slot, " ", view.state));
    }
    return texts;
  };
  EXPECT_THAT(shown(),
              ElementsAre("1/1/0 slot 0 running", "1/1/1 slot 1 exiting", "1/2/0 slot 5 waiting"));
  attempts.RankGone(Rank(1, 1, 1));
  EXPECT_THAT(shown(),
              ElementsAre("1/1/0 slot 0 running", "1/1/1 slot 1 ended", "1/2/0 slot 5 waiting"));
  attempts.RankEnded(ExitOf(1, 1, 0));
  attempts.RankGone(Rank(1, 1, 0));
  EXPECT_THAT(shown(), ElementsAre("1/2/0 slot 5 starting"));
}

TEST(AttemptsTest, ForgettingAnAttemptWithoutFilesRemovesNone) {
  Attempts attempts;
  attempts.Stop(StopOf(1, 3, 0), 0);
  EXPECT_THAT(attempts.Forget(ForgetOf(1, 3)), IsEmpty());
  EXPECT_FALSE(attempts.Contains({1, 3}));
}

TEST(AttemptsTest, ANegativeGraceIsNone) {
  Attempts attempts = Running(1, 1);
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 1, -5000), 1000)), ElementsAre("kill 1/1/0"));
  EXPECT_THAT(attempts.Tick(1000 + kKillAgainMs - 1), IsEmpty());
  EXPECT_THAT(Text(attempts.Tick(1000 + kKillAgainMs)), ElementsAre("kill 1/1/0"));
}

TEST(AttemptsTest, EachAttemptIsKilledAtItsOwnDeadline) {
  Attempts attempts;
  for (const int64_t job : {1, 2, 3}) {
    attempts.Start(StartOf(job, 1, 1), 0);
    attempts.RankSpawned(Rank(job, 1, 0), 100, 5);
  }
  EXPECT_THAT(attempts.Tick(0), IsEmpty());
  attempts.Stop(StopOf(1, 1, 5000), 0);
  attempts.Stop(StopOf(2, 1, 3000), 0);
  attempts.Stop(StopOf(3, 1, 9000), 0);
  EXPECT_THAT(attempts.Tick(2999), IsEmpty());
  EXPECT_THAT(Text(attempts.Tick(3000)), ElementsAre("kill 2/1/0"));
}

TEST(AttemptsTest, LateNewsOfASpawnChangesNothingForARankThatRuns) {
  Attempts attempts = Running(1, 1);
  attempts.SpawnUncertain(Rank(1, 1, 0));
  EXPECT_THAT(attempts.RankNeverSpawned(Rank(1, 1, 0)), IsEmpty());
  EXPECT_THAT(Text(attempts.Reports()), ElementsAre("1/1: 0 running"));
  EXPECT_THAT(Text(attempts.Stop(StopOf(1, 1, 0), 0)), ElementsAre("kill 1/1/0"));
}

TEST(AttemptsTest, StopAllEndsAttemptsThatHaveNotSpawned) {
  Attempts attempts;
  attempts.Restore({}, {StartOf(1, 1, 1)}, {});
  attempts.Start(StartOf(1, 2, 1), 0);
  EXPECT_THAT(attempts.StopAll(1000, 0), IsEmpty());
  EXPECT_THAT(Text(attempts.RankNeverSpawned(Rank(1, 1, 0))),
              ElementsAre("cleared 1/1", "cleared 1/2"));
}

TEST(AttemptsTest, NewsOfUnknownRanksIsIgnored) {
  Attempts attempts;
  EXPECT_THAT(attempts.RankSpawned(Rank(1, 1, 0), 1, 1), IsEmpty());
  EXPECT_THAT(attempts.RankEnded(ExitOf(1, 1, 0)), IsEmpty());
  EXPECT_THAT(attempts.RankGone(Rank(1, 1, 0)), IsEmpty());
  EXPECT_THAT(attempts.RankNeverSpawned(Rank(1, 1, 0)), IsEmpty());
  EXPECT_THAT(attempts.CreationFailed({1, 1}, "x", v1::START_FAULT_NODE, 1), IsEmpty());
  EXPECT_TRUE(attempts.IsGone(Rank(1, 1, 0)));
}

TEST(AttemptsTest, UncertainSpawnIsObservedAndMaySpawnAgain) {
  Attempts attempts;
  attempts.Start(StartOf(1, 1, 1), 0);
  EXPECT_THAT(attempts.RanksToObserve(), IsEmpty());
  attempts.SpawnUncertain(Rank(1, 1, 0));
  EXPECT_THAT(attempts.RanksToObserve(), ElementsAre(Rank(1, 1, 0)));
  EXPECT_THAT(Text(attempts.RankNeverSpawned(Rank(1, 1, 0))), ElementsAre("spawn 1/1/0"));
}

}  // namespace
}  // namespace trainyard::worker
