#include "controller/core/verdict/failure_policy.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/observations/observe.h"
#include "controller/core/state/starting_point.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class FailurePolicyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster_.AddNode("a", 2);
    cluster_.AddNode("b", 2);
    job_ = cluster_.Submit("job", 2, 2);
    cluster_.RunJob(job_);
  }

  const v1::Verdict& Verdict() { return cluster_.Attempt(job_).verdict(); }

  v1::Verdict JudgeOne(v1::RankExited exited) {
    cluster_.Exit(job_, exited);
    cluster_.Settle();
    return Verdict();
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(FailurePolicyTest, BlamesTheRankThatFailedFirst) {
  cluster_.ExitRank(job_, 2, 1, cluster_.now - 10);
  cluster_.ExitRank(job_, 1, 1, cluster_.now - 20);
  cluster_.ExitRank(job_, 0, 69, cluster_.now - 30);
  cluster_.Settle();
  EXPECT_EQ(Verdict().rank(), 1);
  EXPECT_EQ(Verdict().node_id(), "a");
  EXPECT_EQ(Verdict().cause(), v1::VERDICT_CAUSE_RANK_EXITED);
  EXPECT_EQ(Verdict().summary(), "rank 1 on a exited with code 1");
}

// The clock of a is five minutes ahead, and that of b two behind.
class ClocksApartTest : public FailurePolicyTest {
 protected:
  static constexpr int64_t kAheadMs = 300'000, kBehindMs = 120'000;

  // `ago_ms` before now, by the clock of the rank's node; its worker's fact comes now.
  void Exit(int rank, int code, int64_t ago_ms) {
    const bool on_a = rank < 2;
    const int64_t ahead_ms = on_a ? kAheadMs : -kBehindMs;
    v1::Heartbeat heartbeat;
    heartbeat.set_time_ms(cluster_.now + ahead_ms);
    ObserveHeartbeat(on_a ? "a" : "b", heartbeat, cluster_.now, cluster_.state,
                     cluster_.observations);
    cluster_.ExitRank(job_, rank, code, cluster_.now - ago_ms + ahead_ms);
  }
};

TEST_F(ClocksApartTest, TheFirstFailureIsFoundByCorrectedTimes) {
  Exit(0, 1, 20);
  Exit(2, 1, 10);
  cluster_.Settle();
  EXPECT_EQ(Verdict().rank(), 0) << "by the nodes' own clocks rank 2 came seven minutes before";
  EXPECT_EQ(Verdict().time_ms(), cluster_.now - 20);
}

TEST_F(ClocksApartTest, LostPeersAreOrderedByCorrectedTimesToo) {
  Exit(3, 69, 10);
  Exit(1, 69, 20);
  cluster_.Pass(2000);
  EXPECT_EQ(Verdict().rank(), 1);
}

// A replay must give the same verdict, and knows no offsets.
TEST_F(ClocksApartTest, TheCorrectedTimeIsAFact) {
  Exit(0, 1, 20);
  EXPECT_EQ(cluster_.state.jobs.at(job_).exited_ranks.at(0).corrected_ms(), cluster_.now - 20);
  Exit(2, 1, 10);
  cluster_.observations = Observations{.since_ms = cluster_.now};
  cluster_.Settle();
  EXPECT_EQ(Verdict().rank(), 0);
}

TEST_F(FailurePolicyTest, WaitsShortlyForTheCulpritBehindALostPeer) {
  cluster_.ExitRank(job_, 0, 69);
  cluster_.Pass(1500);
  EXPECT_FALSE(cluster_.Attempt(job_).has_verdict());
  cluster_.ExitRank(job_, 3, 70);
  cluster_.Settle();
  EXPECT_EQ(Verdict().rank(), 3);
}

TEST_F(FailurePolicyTest, LostPeerAloneIsJudgedAfterTheWait) {
  cluster_.ExitRank(job_, 0, 69);
  cluster_.Pass(1999);
  EXPECT_FALSE(cluster_.Attempt(job_).has_verdict());
  cluster_.Pass(1);
  EXPECT_EQ(Verdict().rank(), 0);
  EXPECT_TRUE(Verdict().restartable());
  EXPECT_THAT(Verdict().summary(), HasSubstr("lost a peer"));
}

TEST_F(FailurePolicyTest, NobodyIsLeftToWaitFor) {
  cluster_.ExitAll(job_, 69);
  EXPECT_EQ(Verdict().rank(), 0);
}

TEST_F(FailurePolicyTest, ConsequencesAreRecordedAndNotJudged) {
  cluster_.ExitRank(job_, 1, 1);
  cluster_.Settle();
  cluster_.ExitRank(job_, 0, 65, cluster_.now - 1000);
  cluster_.Settle();
  EXPECT_EQ(Verdict().rank(), 1);
  EXPECT_EQ(cluster_.state.jobs.at(job_).exited_ranks.size(), 2u);
}

TEST_F(FailurePolicyTest, NamesSignals) {
  v1::RankExited exited;
  exited.set_rank(2);
  exited.set_signal(9);
  exited.set_log_tail("final output");
  const v1::Verdict verdict = JudgeOne(exited);
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_RANK_SIGNALED);
  EXPECT_EQ(verdict.summary(), "rank 2 on b was ended by signal 9 (SIGKILL)");
  EXPECT_EQ(verdict.log_tail(), "final output");
  EXPECT_TRUE(verdict.restartable());
  // The rank's final output is stored once: the verdict has it, the exited rank does not.
  EXPECT_EQ(cluster_.state.jobs.at(job_).exited_ranks.at(2).log_tail(), "");
}

TEST_F(FailurePolicyTest, NamesEverySignalThatProgramsCommonlyEndBy) {
  const std::pair<int, const char*> names[] = {
      {2, "2 (SIGINT)"},    {4, "4 (SIGILL)"},    {6, "6 (SIGABRT)"},
      {7, "7 (SIGBUS)"},    {8, "8 (SIGFPE)"},    {9, "9 (SIGKILL)"},
      {11, "11 (SIGSEGV)"}, {15, "15 (SIGTERM)"}, {34, "34"}};
  JobEntry entry = cluster_.state.jobs.at(job_);
  for (const auto& [signal, name] : names) {
    entry.exited_ranks[2].set_rank(2);
    entry.exited_ranks[2].set_signal(signal);
    const auto verdict = JudgeExits(cluster_.state, cluster_.observations, entry, cluster_.now);
    ASSERT_TRUE(verdict.has_value());
    EXPECT_EQ(verdict->summary(), absl::StrCat("rank 2 on b was ended by signal ", name));
    EXPECT_EQ(verdict->signal(), signal);
    EXPECT_EQ(verdict->exit_code(), 0);
  }
}

// All four ranks end with 69; 0, 1 and 3 had waited for 2 in an all-reduce.
class LostPeersTest : public FailurePolicyTest {
 protected:
  void ReportWith(bool running, const std::vector<int>& waiting) {
    for (const auto& [node_id, first] : {std::pair{"a", 0}, std::pair{"b", 2}}) {
      v1::AttemptReport& report = cluster_.ReportRunning(node_id, job_, 2);
      for (v1::RankReport& rank : *report.mutable_ranks()) {
        rank.set_rank(rank.rank() + first);
        rank.set_running(running);
        if (std::ranges::count(waiting, rank.rank()) == 0) continue;
        v1::FlightRecord& flight = *rank.mutable_newest()->add_flights();
        flight.set_group("dp0");
        flight.set_ranks("0-3");
        flight.set_sequence(7);
        flight.set_operation("all-reduce");
        flight.set_entered_ms(1);
      }
    }
  }
  void ExitWithout(int rank) {
    for (const int other : {0, 1, 2, 3}) {
      if (other != rank) cluster_.ExitRank(job_, other, 69);
    }
  }
};

TEST_F(LostPeersTest, TheRankThatTheOthersWaitedForIsNamed) {
  ReportWith(/*running=*/true, {});
  cluster_.Pass(500);
  ExitWithout(-1);
  EXPECT_FALSE((cluster_.Settle(), cluster_.Attempt(job_).has_verdict()))
      << "the reports with the last records are on their way";
  ReportWith(/*running=*/false, {0, 1, 3});
  cluster_.Pass(500);
  EXPECT_EQ(Verdict().rank(), 2);
  EXPECT_EQ(Verdict().node_id(), "b");
  EXPECT_EQ(Verdict().exit_code(), 69);
  EXPECT_THAT(Verdict().ranks(), ElementsAre(2));
  EXPECT_THAT(Verdict().summary(),
              AllOf(HasSubstr("rank 2 on b exited with code 69"),
                    HasSubstr("before the exits: rank 2 is blocking the gang: has not joined "
                              "all-reduce 7 of group dp0 (ranks 0-3), where ranks 0,1,3 wait")));
}

TEST_F(LostPeersTest, ARankThatHasNotExitedIsNamedAfterTheWait) {
  ReportWith(/*running=*/true, {});
  cluster_.Pass(500);
  ExitWithout(2);
  ReportWith(/*running=*/false, {0, 1, 3});
  cluster_.Report("b", job_).mutable_ranks(0)->set_running(true);
  cluster_.Pass(1999);
  EXPECT_FALSE(cluster_.Attempt(job_).has_verdict());
  cluster_.Pass(1);
  EXPECT_EQ(Verdict().rank(), 0) << "of the exits the first one";
  EXPECT_THAT(Verdict().ranks(), ElementsAre(2));
}

TEST_F(LostPeersTest, AnExitThatNamesItsCauseNeedsNoFlightRecords) {
  ReportWith(/*running=*/false, {0, 1, 3});
  cluster_.Pass(500);
  cluster_.ExitRank(job_, 1, 70);
  cluster_.Settle();
  EXPECT_EQ(Verdict().rank(), 1);
  EXPECT_THAT(Verdict().ranks(), testing::IsEmpty());
}

TEST_F(FailurePolicyTest, MemoryKillIsNotJustASignal) {
  v1::RankExited exited;
  exited.set_signal(9);
  exited.set_out_of_memory(true);
  const v1::Verdict verdict = JudgeOne(exited);
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_OUT_OF_MEMORY);
  EXPECT_TRUE(verdict.restartable());
}

TEST_F(FailurePolicyTest, TheVerdictHasTheTimeOfTheExitAndNoExitCodeOfASignal) {
  v1::RankExited exited;
  exited.set_rank(1);
  exited.set_signal(11);
  exited.set_exit_code(139);
  exited.set_time_ms(cluster_.now - 5);
  const v1::Verdict verdict = JudgeOne(exited);
  EXPECT_EQ(verdict.time_ms(), cluster_.now - 5);
  EXPECT_EQ(verdict.signal(), 11);
  EXPECT_EQ(verdict.exit_code(), 0);
  EXPECT_EQ(verdict.checkpoint(), "");
}

TEST_F(FailurePolicyTest, ALostPeerNamesTheNodesWithoutAHeartbeatForTwoSeconds) {
  cluster_.StopHeartbeats("b");
  cluster_.ExitRank(job_, 0, 69);
  JobEntry entry = cluster_.state.jobs.at(job_);
  entry.first_failure_ms = 1;
  const auto summary = [&](int64_t age_ms) {
    const Timestamp now = cluster_.now + age_ms;
    ObserveHeartbeat("a", {}, now, cluster_.state, cluster_.observations);
    return JudgeExits(cluster_.state, cluster_.observations, entry, now)->summary();
  };
  EXPECT_THAT(summary(1999), Not(HasSubstr("node b")));
  EXPECT_THAT(summary(2000), HasSubstr("; node b has sent no heartbeat for 2 s"));
}

TEST_F(FailurePolicyTest, EndsWithoutBlameSaySo) {
  EXPECT_EQ(CompletedVerdict(1, 7).summary(), "its rank exited with 0");
  const v1::Verdict completed = CompletedVerdict(2, 7);
  EXPECT_EQ(completed.summary(), "all 2 ranks exited with 0");
  EXPECT_EQ(completed.cause(), v1::VERDICT_CAUSE_COMPLETED);
  EXPECT_EQ(completed.time_ms(), 7);
  EXPECT_EQ(completed.rank(), -1);
  EXPECT_FALSE(completed.restartable());
  EXPECT_EQ(StoppedVerdict(false, 7).summary(), "stopped by a user");
}

TEST_F(FailurePolicyTest, OnlyACheckpointBeyondTheStartIsProgress) {
  cluster_.Publish(job_, 10);
  cluster_.ExitRank(job_, 0, 1);
  cluster_.Settle();
  cluster_.ClearAll(job_);
  cluster_.Pass(1000);
  cluster_.RunJob(job_);
  const JobEntry& entry = cluster_.state.jobs.at(job_);
  ASSERT_EQ(cluster_.Attempt(job_).resume_step(), 10);
  EXPECT_FALSE(PublishedNewerCheckpoint(entry)) << "that of the earlier attempt";
  cluster_.Publish(job_, 10);
  EXPECT_FALSE(PublishedNewerCheckpoint(entry)) << "the same step again";
  cluster_.Publish(job_, 11);
  EXPECT_TRUE(PublishedNewerCheckpoint(entry));
}

TEST_F(FailurePolicyTest, ProgramThatCannotStartIsNotTriedAgain) {
  v1::RankExited exited;
  exited.set_exit_code(127);
  exited.set_spawn_error("no such file: train");
  const v1::Verdict verdict = JudgeOne(exited);
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_SPAWN_FAILED);
  EXPECT_FALSE(verdict.restartable());
  EXPECT_THAT(verdict.summary(), HasSubstr("no such file: train"));
}

TEST_F(FailurePolicyTest, ARankThatExceedsALimitFailsItsJobWithTheReason) {
  v1::RankExited exited;
  exited.set_signal(9);
  exited.set_limit_exceeded("it wrote 41.0 MiB of telemetry within 10 s");
  const v1::Verdict verdict = JudgeOne(exited);
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_LIMIT_EXCEEDED);
  EXPECT_FALSE(verdict.restartable());
  EXPECT_THAT(verdict.summary(), HasSubstr("ended by its node: it wrote 41.0 MiB of telemetry"));
}

TEST_F(FailurePolicyTest, CannotWriteTwiceWithoutANewerCheckpointFailsTheJob) {
  constexpr int kCannotWrite = 73;
  cluster_.Publish(job_, 100);
  cluster_.ExitAll(job_, kCannotWrite);
  cluster_.ClearAll(job_);
  cluster_.Pass(1000);
  cluster_.RunJob(job_);
  ASSERT_EQ(cluster_.Attempt(job_).resume_step(), 100);
  cluster_.ExitAll(job_, kCannotWrite);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster_.Job(job_).restarts(), 1);
  EXPECT_THAT(
      cluster_.Job(job_).verdict().summary(),
      testing::AllOf(HasSubstr("neither wrote a newer checkpoint"), HasSubstr("free disk space")));
}

TEST_F(FailurePolicyTest, CannotWriteAgainAfterANewerCheckpointIsTriedAgain) {
  constexpr int kCannotWrite = 73;
  for (const int64_t step : {100, 200}) {
    cluster_.Publish(job_, step);
    cluster_.ExitAll(job_, kCannotWrite);
    cluster_.ClearAll(job_);
    cluster_.Pass(2000);
    cluster_.RunJob(job_);
  }
  EXPECT_EQ(cluster_.Attempt(job_).number(), 3);
}

TEST_F(FailurePolicyTest, CannotWriteBehindTheNewestCheckpointEndsTheJobInsteadOfRepeatingWork) {
  constexpr int kCannotWrite = 73;
  cluster_.Publish(job_, 100);
  for (int rank = 0; rank < 2; ++rank) cluster_.Step(job_, rank, 150, 1.0);
  cluster_.ExitAll(job_, kCannotWrite);
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster_.Job(job_).restarts(), 0);
  EXPECT_THAT(
      cluster_.Job(job_).verdict().summary(),
      testing::AllOf(HasSubstr("steps up to 150 could not be saved"),
                     HasSubstr("redo them from step 100"), HasSubstr("free disk space in")));
}

class ExitCodeTest : public ::testing::TestWithParam<std::pair<int, v1::VerdictCause>> {};

TEST_P(ExitCodeTest, IsMappedToACause) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, GetParam().first);
  const v1::Verdict& verdict = cluster.Attempt(job).verdict();
  EXPECT_EQ(verdict.cause(), GetParam().second);
  EXPECT_EQ(verdict.restartable(), GetParam().second != v1::VERDICT_CAUSE_BAD_JOB);
  EXPECT_EQ(verdict.exit_code(), GetParam().first);
}

INSTANTIATE_TEST_SUITE_P(
    Sysexits, ExitCodeTest,
    ::testing::Values(
        std::pair{1, v1::VERDICT_CAUSE_RANK_EXITED}, std::pair{64, v1::VERDICT_CAUSE_BAD_JOB},
        std::pair{65, v1::VERDICT_CAUSE_BAD_JOB}, std::pair{66, v1::VERDICT_CAUSE_BAD_JOB},
        std::pair{69, v1::VERDICT_CAUSE_RANK_EXITED}, std::pair{70, v1::VERDICT_CAUSE_RANK_EXITED},
        std::pair{73, v1::VERDICT_CAUSE_RANK_EXITED}, std::pair{74, v1::VERDICT_CAUSE_RANK_EXITED},
        std::pair{75, v1::VERDICT_CAUSE_RANK_EXITED}, std::pair{77, v1::VERDICT_CAUSE_RANK_EXITED},
        std::pair{78, v1::VERDICT_CAUSE_BAD_JOB}, std::pair{143, v1::VERDICT_CAUSE_RANK_EXITED}));

TEST(RestartDecisionTest, NoRestartIsAllowedWhenTheBudgetIsZero) {
  JobEntry entry;
  v1::Verdict verdict;
  verdict.set_restartable(true);
  entry.job.mutable_spec()->mutable_restart()->set_max_restarts(0);
  const RestartDecision decision = DecideRestart(entry, verdict, 0, 1000);
  EXPECT_FALSE(decision.not_before_ms.has_value());
  EXPECT_EQ(decision.refusal, "restart.max_restarts is 0");
}

TEST(RestartDecisionTest, OnlyRestartsWithinTheWindowUseUpTheBudget) {
  JobEntry entry;
  v1::Verdict verdict;
  verdict.set_restartable(true);
  v1::RestartSpec& rules = *entry.job.mutable_spec()->mutable_restart();
  rules.set_max_restarts(2);
  rules.mutable_window()->set_seconds(60);
  entry.restart_times_ms = {1000, 2000};
  const RestartDecision refused = DecideRestart(entry, verdict, 0, 60'999);
  EXPECT_FALSE(refused.not_before_ms.has_value());
  EXPECT_EQ(refused.refusal, "the restart budget is used up: 2 restarts within 60 s");
  const RestartDecision allowed = DecideRestart(entry, verdict, 0, 61'000);
  EXPECT_EQ(allowed.not_before_ms, 61'000);
  EXPECT_FALSE(allowed.uncounted);
}

TEST(RestartDecisionTest, TheWaitDoublesWithEachRestartWithoutProgress) {
  JobEntry entry;
  v1::Verdict verdict;
  verdict.set_restartable(true);
  v1::RestartSpec& rules = *entry.job.mutable_spec()->mutable_restart();
  rules.set_max_restarts(5);
  rules.mutable_backoff()->set_seconds(3);
  rules.mutable_backoff_max()->set_seconds(100);
  const auto wait_ms = [&](int without_progress) {
    entry.restarts_without_progress = without_progress;
    return *DecideRestart(entry, verdict, 0, 1000).not_before_ms - 1000;
  };
  EXPECT_EQ(wait_ms(0), 3000);
  EXPECT_EQ(wait_ms(1), 6000);
  EXPECT_EQ(wait_ms(2), 12'000);
  EXPECT_EQ(wait_ms(5), 96'000);
  EXPECT_EQ(wait_ms(6), 100'000);
}

TEST(RestartDecisionTest, WaitNeverExceedsTheLongestOne) {
  JobEntry entry;
  v1::Verdict verdict;
  verdict.set_restartable(true);
  v1::RestartSpec& rules = *entry.job.mutable_spec()->mutable_restart();
  rules.set_max_restarts(1);
  rules.mutable_backoff()->set_seconds(10);
  rules.mutable_backoff_max()->set_seconds(4);
  EXPECT_EQ(*DecideRestart(entry, verdict, 0, 1000).not_before_ms, 5000);
  entry.restarts_without_progress = 100000;
  rules.mutable_backoff()->set_seconds(1);
  EXPECT_EQ(*DecideRestart(entry, verdict, 0, 1000).not_before_ms, 5000);
}

TEST(StartingPointTest, IsTheSoundCheckpointOfTheHighestStepThenTheHighestAttempt) {
  v1::Job job;
  EXPECT_EQ(NextStartingPoint(job).path, "");
  job.mutable_spec()->mutable_checkpoint()->set_resume_from("/theirs");
  EXPECT_EQ(NextStartingPoint(job).path, "/theirs");
  EXPECT_EQ(NextStartingPoint(job).step, 0);
  for (const auto& [step, attempt_number] :
       {std::pair{10, 2}, std::pair{20, 1}, std::pair{20, 3}}) {
    v1::Checkpoint& checkpoint = *job.add_checkpoints();
    checkpoint.set_step(step);
    checkpoint.set_attempt(attempt_number);
    checkpoint.set_path(absl::StrCat("/c/", step, "-", attempt_number));
  }
  EXPECT_EQ(NextStartingPoint(job).path, "/c/20-3");
  EXPECT_EQ(NextStartingPoint(job).step, 20);
  job.mutable_checkpoints(2)->set_damaged(true);
  EXPECT_EQ(NextStartingPoint(job).path, "/c/20-1");
  for (v1::Checkpoint& checkpoint : *job.mutable_checkpoints()) checkpoint.set_damaged(true);
  EXPECT_EQ(NextStartingPoint(job).path, "/theirs");
}

// A job of one rank without any restart budget.
class CheckpointFallbackTest : public ::testing::Test {
 protected:
  void Start(const std::string& resume_from = "") {
    cluster_.AddNode("a", 1);
    v1::JobSpec spec = TestSpec("job", 1, 1);
    spec.mutable_restart()->set_max_restarts(0);
    spec.mutable_checkpoint()->set_resume_from(resume_from);
    job_ = cluster_.Submit(spec);
    cluster_.RunJob(job_);
  }

  std::vector<v1::Event> EndAttempt(int exit_code) {
    cluster_.ExitRank(job_, 0, exit_code);
    std::vector<v1::Event> events = cluster_.Settle();
    cluster_.ClearAll(job_);
    cluster_.Pass(1000);
    return events;
  }

  // Restarts for causes that are not the job's fault, which need no restart budget.
  void RestartUncounted() {
    EndAttempt(75);
    cluster_.RunJob(job_);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(CheckpointFallbackTest, NextAttemptStartsFromTheNextOlderCheckpoint) {
  Start();
  cluster_.Publish(job_, 10);
  cluster_.Publish(job_, 20);
  RestartUncounted();
  ASSERT_EQ(cluster_.Attempt(job_).resume_from(), "/c/step_20");
  const std::vector<v1::Event> events = EndAttempt(74);
  ASSERT_THAT(Kinds(events), ElementsAre("AttemptFailed", "CheckpointRejected"));
  const v1::Verdict& verdict = events[0].attempt_failed().verdict();
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED);
  EXPECT_EQ(verdict.checkpoint(), "/c/step_20");
  EXPECT_TRUE(verdict.restartable());
  EXPECT_EQ(verdict.summary(), "rank 0 on a could not read the checkpoint of step 20, /c/step_20");
  EXPECT_EQ(events[1].checkpoint_rejected().path(), "/c/step_20");
  EXPECT_EQ(events[1].checkpoint_rejected().step(), 20);
  EXPECT_EQ(events[1].checkpoint_rejected().job_id(), job_);
  EXPECT_EQ(events[1].checkpoint_rejected().attempt(), 2);
  EXPECT_EQ(events[1].checkpoint_rejected().reason(), verdict.summary());
  EXPECT_EQ(events[1].actor(), "controller");
  EXPECT_EQ(cluster_.Attempt(job_).number(), 3);
  EXPECT_EQ(cluster_.Attempt(job_).resume_from(), "/c/step_10");
  EXPECT_EQ(cluster_.Attempt(job_).resume_step(), 10);
  EXPECT_TRUE(cluster_.Job(job_).checkpoints(1).damaged());
  EXPECT_EQ(cluster_.Job(job_).restarts(), 0) << "the job is not to blame";
}

TEST_F(CheckpointFallbackTest, JobFailsWhenNoneIsLeft) {
  Start();
  cluster_.Publish(job_, 1);
  cluster_.Publish(job_, 20);
  RestartUncounted();
  EndAttempt(74);
  cluster_.RunJob(job_);
  EndAttempt(74);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster_.Job(job_).verdict().summary(),
            "rank 0 on a could not read the checkpoint of step 1, /c/step_1; no older checkpoint "
            "is left to fall back to");
}

TEST_F(CheckpointFallbackTest, TheCheckpointThatTheUserNamedIsTheLastOne) {
  Start("/theirs");
  cluster_.Publish(job_, 10);
  RestartUncounted();
  EndAttempt(74);
  cluster_.RunJob(job_);
  EXPECT_EQ(cluster_.Attempt(job_).resume_from(), "/theirs");
  EndAttempt(74);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
}

TEST_F(CheckpointFallbackTest, ACheckpointPublishedAgainIsSound) {
  Start();
  cluster_.Publish(job_, 10);
  cluster_.Publish(job_, 20);
  RestartUncounted();
  EndAttempt(74);
  cluster_.RunJob(job_);
  cluster_.Publish(job_, 20);
  RestartUncounted();
  EXPECT_EQ(cluster_.Attempt(job_).resume_from(), "/c/step_20");
}

TEST_F(CheckpointFallbackTest, WhoWasGivenNoCheckpointCannotHaveFoundItDamaged) {
  Start();
  EndAttempt(74);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster_.Job(job_).verdict().cause(), v1::VERDICT_CAUSE_RANK_EXITED);
}

TEST_F(CheckpointFallbackTest, TryAgainWaitsForTheBackoff) {
  Start();
  cluster_.ExitRank(job_, 0, 75);
  cluster_.Settle();
  cluster_.ClearAll(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_RECOVERING);
  EXPECT_EQ(cluster_.Job(job_).not_before_ms(), cluster_.now + 1000);
}

TEST_F(CheckpointFallbackTest, TryAgainIsUncountedOnlySoManyTimesInARow) {
  Start();
  for (int i = 0; i < kUncountedTriesInARow; ++i) {
    EndAttempt(75);
    for (int k = 0; k < 600 && cluster_.Attempt(job_).number() < i + 2; ++k) cluster_.Pass(500);
    ASSERT_EQ(cluster_.Attempt(job_).number(), i + 2);
    cluster_.StartAll(job_);
  }
  EXPECT_EQ(cluster_.Job(job_).restarts(), 0);
  EndAttempt(75);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_FAILED);
  EXPECT_THAT(cluster_.Job(job_).verdict().summary(), HasSubstr("restart.max_restarts is 0"));
}

}  // namespace
}  // namespace trainyard::controller
