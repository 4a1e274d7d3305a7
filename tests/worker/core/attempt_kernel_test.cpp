#include "worker/core/attempt_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/worker/core/action_text.h"
#include "tests/worker/core/memory_attempt_io.h"
#include "tests/worker/core/memory_facts.h"

namespace trainyard::worker {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Presence = RankStatus::Presence;

// Process id of the tests' rank.
constexpr int64_t kPid = 100;

class AttemptKernelTest : public testing::Test {
 protected:
  static WorkerTime At(Timestamp steady_ms) { return {steady_ms, 1'000'000 + steady_ms}; }

  // Starts attempt 1 of job 1 with one rank.
  void Start() { kernel_.Start(StartOf(1, 1, 1), At(0)); }
  void Observe(Presence presence, int64_t pid, const v1::RankExited& exited = ExitOf(1, 1, 0)) {
    kernel_.Observed(Rank(1, 1, 0), {.presence = presence, .pid = pid, .exited = exited}, At(0));
  }
  // Starts the attempt and reports its rank running.
  void Run() {
    Start();
    Observe(Presence::kRunning, kPid);
    io_.Take();
  }
  // Stops the attempt, and requests the stacks of rank 0.
  void StopWithStacks(v1::StopAttempt command) {
    command.add_stacks_of(0);
    kernel_.Stop(command, At(0));
  }
  const v1::RankExited& LastExit() const {
    const std::vector<v1::Fact>& facts = facts_.facts();
    return std::find_if(facts.rbegin(), facts.rend(),
                        [](const v1::Fact& fact) { return fact.has_rank_exited(); })
        ->rank_exited();
  }
  // Acknowledges all facts, as the controller does. The facts' simulated size is large enough for a
  // compaction.
  void AcknowledgeAll() {
    facts_.disk_bytes = kLargeDiskBytes;
    facts_.Acknowledge(facts_.last_sequence());
    ASSERT_TRUE(kernel_.FactsAcknowledged().ok());
  }

  MemoryFacts facts_;
  MemoryAttemptIo io_{facts_};
  AttemptKernel kernel_{io_, facts_};
};

TEST_F(AttemptKernelTest, AStartIsWrittenAndLaunchedImmediately) {
  Start();
  EXPECT_THAT(io_.Take(),
              ElementsAre("create 1/1", "add streams 1/1", "launch 1/1/0", "attempt 1/1"));
  EXPECT_TRUE(kernel_.AllWritten());
}

TEST_F(AttemptKernelTest, AFailedCreationIsReportedAndLaunchesNoRank) {
  io_.creation = absl::ResourceExhaustedError("disk full");
  Start();
  EXPECT_THAT(io_.warnings, ElementsAre("job 1 attempt 1: disk full"));
  EXPECT_THAT(io_.Take(),
              ElementsAre("add streams 1/1", "exited 1/1/0 127", "cleared 1/1", "attempt 1/1"));
}

TEST_F(AttemptKernelTest, AFailedWriteIsReportedOnceAndRetried) {
  io_.write = absl::ResourceExhaustedError("disk full");
  Start();
  EXPECT_THAT(io_.warnings, ElementsAre(HasSubstr("disk full")));
  kernel_.Tick(At(2000));
  EXPECT_EQ(io_.warnings.size(), 1u);
  EXPECT_FALSE(kernel_.AllWritten());
  io_.Take();
  io_.write = absl::OkStatus();
  kernel_.Tick(At(2999));
  EXPECT_THAT(io_.Take(), IsEmpty()) << "retried once a second";
  kernel_.Tick(At(3000));
  EXPECT_THAT(io_.Take(), ElementsAre("attempt 1/1"));
}

TEST_F(AttemptKernelTest, RanksAreObservedTwiceASecond) {
  Run();
  kernel_.Tick(At(1000));
  EXPECT_THAT(io_.Take(), ElementsAre("observe 1/1/0"));
  kernel_.Tick(At(1499));
  EXPECT_THAT(io_.Take(), IsEmpty());
  kernel_.Tick(At(1500));
  EXPECT_THAT(io_.Take(), ElementsAre("observe 1/1/0"));
}

TEST_F(AttemptKernelTest, ARestoredRankIsObservedAndLaunchedIfItNeverStarted) {
  kernel_.Restore(SeenAttempts(), {StartOf(1, 1, 1)});
  EXPECT_THAT(io_.Take(), ElementsAre("add streams 1/1", "observe 1/1/0"));
  Observe(Presence::kNeverStarted, 0);
  EXPECT_THAT(io_.Take(), ElementsAre("launch 1/1/0"));
}

TEST_F(AttemptKernelTest, AStartedRankWithoutRecordsAndProcessesCountsAsKilled) {
  Run();
  Observe(Presence::kNeverStarted, 0);
  EXPECT_THAT(io_.Take(), ElementsAre("exited 1/1/0 0", "cleared 1/1"));
  EXPECT_EQ(LastExit().signal(), 9);
  EXPECT_THAT(LastExit().log_tail(), HasSubstr("records of this rank are lost"));
}

TEST_F(AttemptKernelTest, TheStartOfARankThatEndedBeforeItWasSeenIsRecordedToo) {
  Start();
  io_.Take();
  Observe(Presence::kEnded, kPid, ExitOf(1, 1, 0, 3));
  EXPECT_THAT(io_.Take(), ElementsAre("started 1/1/0", "exited 1/1/0 3", "cleared 1/1"));
}

TEST_F(AttemptKernelTest, NoStartIsRecordedWithoutAProcessId) {
  Start();
  io_.Take();
  Observe(Presence::kEnded, 0, ExitOf(1, 1, 0, 3));
  EXPECT_THAT(io_.Take(), ElementsAre("exited 1/1/0 3", "cleared 1/1"));
}

TEST_F(AttemptKernelTest, ARankOverALimitIsKilledAndItsExitNamesTheLimit) {
  Run();
  kernel_.EndForLimit(Rank(1, 1, 0), "it wrote too much");
  EXPECT_THAT(io_.warnings,
              ElementsAre("job 1 attempt 1 rank 0 is ended, because it wrote too much"));
  kernel_.EndForLimit(Rank(1, 1, 0), "it wrote too much");
  EXPECT_EQ(io_.warnings.size(), 1u);
  EXPECT_THAT(io_.Take(), ElementsAre("kill 1/1/0", "kill 1/1/0"));
  Observe(Presence::kEnded, kPid);
  EXPECT_EQ(LastExit().limit_exceeded(), "it wrote too much");
}

TEST_F(AttemptKernelTest, AnExitWithoutALimitNamesNone) {
  Run();
  Observe(Presence::kEnded, kPid);
  EXPECT_EQ(LastExit().limit_exceeded(), "");
}

TEST_F(AttemptKernelTest, StreamsAreRemovedOnlyWithAForgottenAttempt) {
  Run();
  kernel_.Forget(ForgetOf(1, 1), At(0));
  EXPECT_THAT(io_.Take(), IsEmpty());
  EXPECT_THAT(io_.warnings, ElementsAre(AllOf(HasSubstr("refused"), HasSubstr("has processes"))));
  Observe(Presence::kEnded, kPid);
  io_.Take();
  kernel_.Forget(ForgetOf(1, 1), At(0));
  EXPECT_THAT(io_.Take(), ElementsAre("remove 1/1", "remove streams 1/1"));
}

TEST_F(AttemptKernelTest, TheSameErrorIsReportedAgainAfterASuccess) {
  io_.write = absl::ResourceExhaustedError("disk full");
  Start();
  io_.write = absl::OkStatus();
  kernel_.Tick(At(1000));
  io_.write = absl::ResourceExhaustedError("disk full");
  kernel_.Observed(Rank(1, 1, 0), {.presence = Presence::kRunning, .pid = kPid}, At(2000));
  EXPECT_EQ(io_.warnings.size(), 2u);
}

TEST_F(AttemptKernelTest, StreamsOfAnAttemptWithALostCommandAreSent) {
  kernel_.Restore(SeenAttempts(), {}, {StartOf(1, 1, 1)});
  EXPECT_THAT(io_.Take(), ElementsAre("add streams 1/1", "observe 1/1/0"));
}

TEST_F(AttemptKernelTest, TheExitOfALostAttemptNamesTheReason) {
  kernel_.Restore(SeenAttempts(), {}, {StartOf(1, 1, 1)});
  Observe(Presence::kRunning, kPid);
  v1::RankExited exited = ExitOf(1, 1, 0, 1);
  exited.set_log_tail("last line");
  Observe(Presence::kEnded, kPid, exited);
  EXPECT_EQ(LastExit().log_tail(),
            "last line\nthe worker ended the attempt, because the start command (start.pb in the "
            "worker's data directory) was lost or damaged");
}

TEST_F(AttemptKernelTest, TheExitOfAKnownAttemptIsRecordedUnchanged) {
  Run();
  v1::RankExited exited = ExitOf(1, 1, 0, 1);
  exited.set_log_tail("last line");
  Observe(Presence::kEnded, kPid, exited);
  EXPECT_EQ(LastExit().ShortDebugString(), exited.ShortDebugString());
}

TEST_F(AttemptKernelTest, AnUnknownExitNamesItsRankAndTheTimeItWasFound) {
  kernel_.Start(StartOf(1, 1, 2), At(0));
  kernel_.Observed(Rank(1, 1, 1), {.presence = Presence::kRunning, .pid = kPid}, At(0));
  kernel_.Observed(Rank(1, 1, 1), {.presence = Presence::kNeverStarted}, At(7));
  v1::RankExited expected = ExitOf(1, 1, 1);
  expected.set_signal(9);
  expected.set_log_tail(
      "the worker's records of this rank are lost, and no process of the rank is left");
  expected.set_time_ms(At(7).wall_ms);
  EXPECT_EQ(LastExit().ShortDebugString(), expected.ShortDebugString());
}

TEST_F(AttemptKernelTest, AFailedLaunchIsAnExitWithItsErrorAndFault) {
  kernel_.Start(StartOf(1, 1, 2), At(0));
  io_.Take();
  kernel_.LaunchFailed(Rank(1, 1, 1), "no such program", v1::START_FAULT_JOB, At(7));
  EXPECT_THAT(io_.Take(), ElementsAre("exited 1/1/1 127"));
  v1::RankExited expected = ExitOf(1, 1, 1, kSpawnFailedExitCode);
  expected.set_spawn_error("no such program");
  expected.set_start_fault(v1::START_FAULT_JOB);
  expected.set_time_ms(At(7).wall_ms);
  EXPECT_EQ(LastExit().ShortDebugString(), expected.ShortDebugString());
}

TEST_F(AttemptKernelTest, AProcessThatThisWorkerCannotStartEndsItsRanksWithTheReason) {
  v1::StartAttempt command = StartOf(1, 1, 2);
  command.mutable_processes(0)->mutable_ranks()->MergeFrom(command.processes(1).ranks());
  command.mutable_processes()->RemoveLast();
  kernel_.Start(command, At(7));
  EXPECT_THAT(io_.Take(),
              ElementsAre("add streams 1/1", "exited 1/1/0 127", "cleared 1/1", "attempt 1/1"));
  EXPECT_THAT(LastExit().further_ranks(), ElementsAre(1));
  EXPECT_THAT(LastExit().spawn_error(), HasSubstr("a process has 2 ranks on 1 slot"));
  EXPECT_EQ(LastExit().start_fault(), v1::START_FAULT_JOB);
}

TEST_F(AttemptKernelTest, ACommandOfAnEarlierReleaseStartsItsRanks) {
  v1::StartAttempt command = StartOf(1, 1, 0);
  command.set_world_size(1);
  command.add_ranks()->set_rank(0);
  kernel_.Start(command, At(0));
  EXPECT_THAT(io_.Take(), testing::Contains("launch 1/1/0"));
}

TEST_F(AttemptKernelTest, AnyPositiveProcessIdRecordsTheStart) {
  Start();
  io_.Take();
  Observe(Presence::kEnded, 1, ExitOf(1, 1, 0, 3));
  EXPECT_THAT(io_.Take(), ElementsAre("started 1/1/0", "exited 1/1/0 3", "cleared 1/1"));
}

TEST_F(AttemptKernelTest, AStopCancelsLaunchesAndSignalsRunningRanks) {
  kernel_.Start(StartOf(1, 1, 2), At(0));
  Observe(Presence::kRunning, kPid);
  io_.Take();
  kernel_.Stop(StopOf(1, 1, 1000), At(0));
  EXPECT_THAT(io_.Take(), ElementsAre("cancel 1/1/1", "term 1/1/0"));
}

TEST_F(AttemptKernelTest, StopAllReachesEveryAttempt) {
  Run();
  kernel_.StopAll(1000, At(0));
  EXPECT_THAT(io_.Take(), ElementsAre("kill 1/1/0")) << "the job has no grace";
}

TEST_F(AttemptKernelTest, StacksAreTakenOncePerRankBeforeItsFirstSignal) {
  Run();
  StopWithStacks(StopOf(1, 1, 1000));
  EXPECT_THAT(io_.Take(), ElementsAre("stacks 100", "term 1/1/0"));
  StopWithStacks(StopOf(1, 1, 1000));
  EXPECT_THAT(io_.Take(), IsEmpty());
  Observe(Presence::kEnded, kPid);
  EXPECT_EQ(LastExit().stacks(), "threads of process 100");
}

TEST_F(AttemptKernelTest, StacksAreTakenOfAnyPositiveProcessId) {
  Start();
  Observe(Presence::kRunning, 1);
  io_.Take();
  StopWithStacks(StopOf(1, 1, 1000));
  EXPECT_THAT(io_.Take(), ElementsAre("stacks 1", "term 1/1/0"));
}

TEST_F(AttemptKernelTest, ARankThatDoesNotRunHasNoStacks) {
  Start();
  io_.Take();
  StopWithStacks(StopOf(1, 1, 1000));
  EXPECT_THAT(io_.Take(), ElementsAre("cancel 1/1/0"));
}

TEST_F(AttemptKernelTest, ARankThatSurvivesItsKillsNoLongerDelaysTheNextAttempt) {
  Run();
  kernel_.Start(StartOf(1, 2, 1), At(0));
  io_.Take();
  for (int kill = 0; kill < kUnkillableAfterKills; ++kill) {
    EXPECT_THAT(io_.Take(), IsEmpty());
    kernel_.Killed(Rank(1, 1, 0), /*waits_in_kernel=*/true, At(kill * kKillAgainMs));
  }
  EXPECT_THAT(io_.Take(), ElementsAre("launch 1/2/0"));
}

TEST_F(AttemptKernelTest, AnOrderToHealIsWrittenOnceItsWriteSucceeds) {
  v1::HealAttempt heal;
  heal.set_job_id(1);
  heal.set_attempt(1);
  heal.set_generation(2);
  heal.add_orders()->set_rank(0);
  Run();
  io_.order_write = absl::ResourceExhaustedError("disk full");
  kernel_.Heal(heal);
  EXPECT_THAT(io_.warnings, ElementsAre("job 1 attempt 1 rank 0: cannot write the heal "
                                        "order: disk full"));
  io_.order_write = absl::OkStatus();
  kernel_.Heal(heal);
  EXPECT_THAT(io_.Take(), ElementsAre("order 1/1/0"));
  EXPECT_EQ(kernel_.Reports()[0].ranks(0).ordered_generation(), 2);
  kernel_.Heal(heal);
  EXPECT_THAT(io_.Take(), IsEmpty());
  EXPECT_EQ(io_.warnings.size(), 1u);
}

v1::WarnAttempt WarningOf(int number, const std::string& signal) {
  v1::WarnAttempt warn;
  warn.set_job_id(1);
  warn.set_attempt(1);
  warn.set_number(number);
  warn.set_signal(signal);
  return warn;
}

TEST_F(AttemptKernelTest, AWarningIsSentOncePerNumber) {
  Run();
  kernel_.WarnRanks(WarningOf(1, "USR1"));
  EXPECT_THAT(io_.Take(), ElementsAre("usr1 1/1/0"));
  EXPECT_EQ(kernel_.Reports()[0].ranks(0).warning(), 1);
  kernel_.WarnRanks(WarningOf(1, "USR1"));
  EXPECT_THAT(io_.Take(), IsEmpty());
  kernel_.WarnRanks(WarningOf(2, "USR2"));
  EXPECT_THAT(io_.Take(), ElementsAre("usr2 1/1/0"));
  kernel_.WarnRanks(WarningOf(1, "USR1"));
  EXPECT_THAT(io_.Take(), IsEmpty()) << "late";
}

TEST_F(AttemptKernelTest, AWarningWithAnotherSignalIsRefused) {
  Run();
  kernel_.WarnRanks(WarningOf(1, "KILL"));
  EXPECT_THAT(io_.Take(), IsEmpty());
  EXPECT_THAT(io_.warnings, ElementsAre("the worker refused a command: unknown signal KILL for a "
                                        "warning"));
  EXPECT_EQ(kernel_.Reports()[0].ranks(0).warning(), 0);
}

TEST_F(AttemptKernelTest, AStoppingAttemptIsNotWarned) {
  Run();
  kernel_.Stop(StopOf(1, 1, 60'000), At(0));
  io_.Take();
  kernel_.WarnRanks(WarningOf(1, "USR1"));
  EXPECT_THAT(io_.Take(), IsEmpty());
}

TEST_F(AttemptKernelTest, ForgettingAnAttemptLeavesTheLimitsOfOthers) {
  Run();
  kernel_.Start(StartOf(2, 1, 1), At(0));
  kernel_.Observed(Rank(2, 1, 0), {.presence = Presence::kRunning, .pid = kPid}, At(0));
  kernel_.EndForLimit(Rank(1, 1, 0), "it wrote too much");
  kernel_.EndForLimit(Rank(2, 1, 0), "it had too many files");
  Observe(Presence::kEnded, kPid);
  kernel_.Forget(ForgetOf(1, 1), At(0));
  kernel_.Observed(Rank(2, 1, 0),
                   {.presence = Presence::kEnded, .pid = kPid, .exited = ExitOf(2, 1, 0)}, At(0));
  EXPECT_EQ(LastExit().limit_exceeded(), "it had too many files");
}

// The worker remembers attempt numbers for a limited number of jobs, so a number may occur again.
// Texts of the forgotten attempt must not appear in a later attempt with the same number.
TEST_F(AttemptKernelTest, AForgottenAttemptLeavesNoTextsForALaterOneOfItsNumber) {
  kernel_.Restore(SeenAttempts(/*max_jobs=*/1), {});
  Run();
  kernel_.EndForLimit(Rank(1, 1, 0), "it wrote too much");
  StopWithStacks(StopOf(1, 1, 1000));
  Observe(Presence::kEnded, kPid);
  EXPECT_EQ(LastExit().limit_exceeded(), "it wrote too much");
  EXPECT_EQ(LastExit().stacks(), "threads of process 100");
  kernel_.Forget(ForgetOf(1, 1), At(0));
  kernel_.Start(StartOf(2, 1, 1), At(0));
  Run();
  Observe(Presence::kEnded, kPid);
  EXPECT_EQ(LastExit().ShortDebugString(), ExitOf(1, 1, 0).ShortDebugString());
}

TEST_F(AttemptKernelTest, AnAttemptWithoutRanksIsErasedOnceItsEndIsStored) {
  kernel_.Stop(StopOf(1, 3, 0), At(0));
  ASSERT_TRUE(kernel_.FactsAcknowledged().ok());
  EXPECT_TRUE(kernel_.attempts().Contains({1, 3})) << "its end is not stored yet";
  AcknowledgeAll();
  EXPECT_FALSE(kernel_.attempts().Contains({1, 3}));
}

TEST_F(AttemptKernelTest, AStoredStartIsNoEndOfTheAttempt) {
  Run();
  AcknowledgeAll();
  Start();
  EXPECT_THAT(io_.Take(), IsEmpty());
}

TEST_F(AttemptKernelTest, AnEndRecordedAgainAwaitsItsOwnAcknowledgement) {
  Run();
  Observe(Presence::kEnded, kPid);
  AcknowledgeAll();
  io_.Take();
  Start();
  EXPECT_THAT(io_.Take(), ElementsAre("cleared 1/1")) << "the controller has lost the attempt";
  ASSERT_TRUE(kernel_.FactsAcknowledged().ok());
  Start();
  EXPECT_THAT(io_.Take(), IsEmpty());
}

TEST_F(AttemptKernelTest, ReportsIncludeTheStateInTheFilesOfTheRanks) {
  Run();
  io_.step = 7;
  EXPECT_EQ(kernel_.Reports()[0].ranks(0).step(), 7);
}

TEST_F(AttemptKernelTest, FactsAreKeptUntilTheirAttemptIsForgotten) {
  Run();
  Observe(Presence::kEnded, kPid);
  AcknowledgeAll();
  EXPECT_EQ(facts_.facts().size(), 3u);
  kernel_.Forget(ForgetOf(1, 1), At(0));
  AcknowledgeAll();
  EXPECT_THAT(facts_.facts(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::worker
