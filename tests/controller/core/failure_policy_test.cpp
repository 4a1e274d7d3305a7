#include "controller/core/failure_policy.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

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
  exited.set_log_tail("last words");
  const v1::Verdict verdict = JudgeOne(exited);
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_RANK_SIGNALED);
  EXPECT_EQ(verdict.summary(), "rank 2 on b was ended by signal 9 (SIGKILL)");
  EXPECT_EQ(verdict.log_tail(), "last words");
  EXPECT_TRUE(verdict.restartable());
  // The last words are kept once.
  EXPECT_EQ(cluster_.state.jobs.at(job_).exited_ranks.at(2).log_tail(), "");
}

TEST_F(FailurePolicyTest, MemoryKillIsNotJustASignal) {
  v1::RankExited exited;
  exited.set_signal(9);
  exited.set_out_of_memory(true);
  const v1::Verdict verdict = JudgeOne(exited);
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_OUT_OF_MEMORY);
  EXPECT_TRUE(verdict.restartable());
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

INSTANTIATE_TEST_SUITE_P(Sysexits, ExitCodeTest,
                         ::testing::Values(std::pair{1, v1::VERDICT_CAUSE_RANK_EXITED},
                                           std::pair{64, v1::VERDICT_CAUSE_BAD_JOB},
                                           std::pair{65, v1::VERDICT_CAUSE_BAD_JOB},
                                           std::pair{66, v1::VERDICT_CAUSE_BAD_JOB},
                                           std::pair{69, v1::VERDICT_CAUSE_RANK_EXITED},
                                           std::pair{70, v1::VERDICT_CAUSE_RANK_EXITED},
                                           std::pair{73, v1::VERDICT_CAUSE_RANK_EXITED},
                                           std::pair{75, v1::VERDICT_CAUSE_RANK_EXITED},
                                           std::pair{77, v1::VERDICT_CAUSE_RANK_EXITED},
                                           std::pair{78, v1::VERDICT_CAUSE_BAD_JOB},
                                           std::pair{143, v1::VERDICT_CAUSE_RANK_EXITED}));

TEST(RestartDecisionTest, NoRestartIsAllowedWhenTheBudgetIsZero) {
  JobEntry entry;
  v1::Verdict verdict;
  verdict.set_restartable(true);
  entry.job.mutable_spec()->mutable_restart()->set_max_restarts(0);
  const RestartDecision decision = DecideRestart(entry, verdict, 1000);
  EXPECT_FALSE(decision.not_before_ms.has_value());
  EXPECT_EQ(decision.refusal, "restart.max_restarts is 0");
}

TEST(RestartDecisionTest, WaitNeverExceedsTheLongestOne) {
  JobEntry entry;
  v1::Verdict verdict;
  verdict.set_restartable(true);
  v1::RestartSpec& rules = *entry.job.mutable_spec()->mutable_restart();
  rules.set_max_restarts(1);
  rules.mutable_backoff()->set_seconds(10);
  rules.mutable_backoff_max()->set_seconds(4);
  EXPECT_EQ(*DecideRestart(entry, verdict, 1000).not_before_ms, 5000);
  entry.restarts_without_progress = 100000;
  rules.mutable_backoff()->set_seconds(1);
  EXPECT_EQ(*DecideRestart(entry, verdict, 1000).not_before_ms, 5000);
}

TEST(NewestCheckpointTest, HasTheHighestStepThenTheHighestEpoch) {
  v1::Job job;
  EXPECT_EQ(NewestCheckpoint(job), nullptr);
  for (const auto& [step, epoch] : {std::pair{10, 2}, std::pair{20, 1}, std::pair{20, 3}}) {
    v1::Checkpoint& checkpoint = *job.add_checkpoints();
    checkpoint.set_step(step);
    checkpoint.set_epoch(epoch);
  }
  EXPECT_EQ(NewestCheckpoint(job)->step(), 20);
  EXPECT_EQ(NewestCheckpoint(job)->epoch(), 3);
}

}  // namespace
}  // namespace trainyard::controller
