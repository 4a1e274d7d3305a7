#include "controller/core/verdict/failure_policy.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/observations/observe.h"
#include "controller/core/state/attempts/starting_point.h"
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

// The clock of node a is five minutes ahead, and the clock of node b is two minutes behind.
class ClocksApartTest : public FailurePolicyTest {
 protected:
  static constexpr int64_t kAheadMs = 300'000, kBehindMs = 120'000;

  // Sends the exit fact of a rank now. By the clock of the rank's node, the exit was `ago_ms` ago.
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

// The event must contain the corrected time: a replay does not know the clock offsets, but must
// reach the original verdict.
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
  // The rank's final output is stored only once: in the verdict, not in the exited rank.
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

// All four ranks exit with 69, the exit code for a lost peer. Before that, ranks 0, 1 and 3 waited
// for rank 2 in an all-reduce.
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
                    HasSubstr("before the exits: rank 2 has not reached all-reduce 7 of "
                              "group dp0 (ranks 0-3); ranks 0,1,3 are waiting for it")));
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

// Programs without exit code 69 report a lost peer in their output.
class ReportedPeerLossTest : public FailurePolicyTest {
 protected:
  void Exit(int rank, int code, int signal, const std::string& output) {
    v1::RankExited exited;
    exited.set_rank(rank);
    exited.set_exit_code(code);
    exited.set_signal(signal);
    exited.set_log_tail(output);
    exited.set_time_ms(cluster_.now);
    cluster_.Exit(job_, exited);
    cluster_.Settle();
  }
  void ExitByWatchdog(int rank) {
    Exit(rank, 0, 6,
         "[rank0]:[E] ProcessGroupNCCL.cpp: Watchdog caught collective operation timeout: "
         "WorkNCCL(SeqNum=35, OpType=ALLREDUCE) ran for 600000 milliseconds before timing out.\n"
         "terminate called after throwing an instance of 'c10::DistBackendError'\n");
  }
};

TEST_F(ReportedPeerLossTest, TheRankThatFailsAfterALongCleanUpIsBlamed) {
  ExitByWatchdog(0);
  cluster_.Pass(4000);
  EXPECT_FALSE(cluster_.Attempt(job_).has_verdict());
  Exit(1, 1, 0,
       "Traceback (most recent call last):\nRuntimeError: CUDA out of memory. Tried to allocate "
       "2.00 GiB.\n");
  EXPECT_EQ(Verdict().rank(), 1);
  EXPECT_EQ(Verdict().error_line(),
            "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB.");
}

TEST_F(ReportedPeerLossTest, WithoutAnotherFailureTheWaitEnds) {
  ExitByWatchdog(0);
  cluster_.Pass(9500);
  EXPECT_FALSE(cluster_.Attempt(job_).has_verdict());
  cluster_.Pass(500);
  EXPECT_EQ(Verdict().rank(), 0);
  EXPECT_THAT(Verdict().summary(),
              HasSubstr("rank 0 on a was ended by signal 6 (SIGABRT) after it lost a peer: "
                        "[rank0]:[E] ProcessGroupNCCL.cpp: Watchdog caught"));
}

TEST_F(ReportedPeerLossTest, ARankWithAnErrorOfItsOwnIsJudgedAtOnce) {
  Exit(2, 1, 0, "KeyError: 'a'\nRuntimeError: gloo: Connection closed by peer\n");
  EXPECT_EQ(Verdict().rank(), 2);
}

TEST_F(ReportedPeerLossTest, ASigkillIsNoConsequence) {
  Exit(2, 0, 9, "RuntimeError: gloo: Connection closed by peer\n");
  EXPECT_EQ(Verdict().rank(), 2);
}

TEST_F(FailurePolicyTest, ASignalBelowAShellOrALauncherIsNamed) {
  v1::RankExited exited;
  exited.set_exit_code(137);
  exited.set_log_tail("child ended with 137\n");
  EXPECT_EQ(JudgeOne(exited).summary(),
            "rank 0 on a exited with code 137, because SIGKILL ended a process that it started "
            "(often the kernel, for lack of memory)");
}

TEST_F(FailurePolicyTest, ASignalInTheTableOfALauncherIsNamed) {
  v1::RankExited exited;
  exited.set_exit_code(1);
  exited.set_log_tail("  exitcode  : -11 (pid: 12)\n");
  EXPECT_EQ(JudgeOne(exited).summary(),
            "rank 0 on a exited with code 1, because SIGSEGV ended a process that it started");
}

TEST_F(FailurePolicyTest, TheCodeAfterASaveNamesNoSignal) {
  v1::RankExited exited;
  exited.set_exit_code(143);
  EXPECT_THAT(JudgeOne(exited).summary(), Not(HasSubstr("because")));
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
  EXPECT_EQ(CompletedVerdict(1, 7).summary(), "the rank exited with 0");
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
  EXPECT_THAT(cluster_.Job(job_).verdict().summary(),
              testing::AllOf(HasSubstr("neither attempt wrote a newer checkpoint"),
                             HasSubstr("free disk space")));
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

}  // namespace
}  // namespace trainyard::controller
