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

// Process id of the rank in a test.
constexpr int64_t kPid = 100;

class AttemptKernelTest : public testing::Test {
 protected:
  static WorkerTime At(Timestamp steady_ms) { return {steady_ms, 1'000'000 + steady_ms}; }

  // Starts attempt 1 of job 1 with one rank.
  void Start() { kernel_.Start(StartOf(1, 1, 1), At(0)); }
  void Observe(Presence presence, int64_t pid, const v1::RankExited& exited = ExitOf(1, 1, 0)) {
    kernel_.Observed(Rank(1, 1, 0), {.presence = presence, .pid = pid, .exited = exited}, At(0));
  }
  // Starts the attempt, and its rank runs.
  void Run() {
    Start();
    Observe(Presence::kRunning, kPid);
    io_.Take();
  }
  const v1::RankExited& LastExit() const {
    const std::vector<v1::Fact>& facts = facts_.facts();
    return std::find_if(facts.rbegin(), facts.rend(),
                        [](const v1::Fact& fact) { return fact.has_rank_exited(); })
        ->rank_exited();
  }
  // The controller has stored all facts, and the disk is worth a compaction.
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
  EXPECT_THAT(io_.warnings, ElementsAre("job 1 attempt 1 rank 0 is ended: it wrote too much"));
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
