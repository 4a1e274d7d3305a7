// Tests a gang's time ledger and the status of each
// rank, computed from reports of our own trainer.
#include <signal.h>

#include <cmath>
#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

std::map<v1::LedgerPhase, double> PhasesOf(const v1::Ledger& ledger) {
  std::map<v1::LedgerPhase, double> phases;
  for (const v1::PhaseTime& time : ledger.phases()) phases[time.phase()] = time.seconds();
  return phases;
}

class AccountingTest : public testing::Test {
 protected:
  AccountingTest() : cluster_(2), tokens_(cluster_.MakeTokens()) {}

  // Every rank reports memory, steps and stalls, although metrics are stored for only one rank.
  void ExpectBothRanksTell(int64_t job_id) {
    v1::ListRanksResponse ranks;
    EXPECT_TRUE(Eventually([&] {
      ranks = cluster_.Ranks(job_id);
      return ranks.ranks_size() == 2 && ranks.ranks(0).step_seconds() > 0 &&
             ranks.ranks(1).step_seconds() > 0;
    })) << ranks.DebugString();
    for (const v1::RankStatus& rank : ranks.ranks()) {
      EXPECT_GT(rank.memory_bytes(), 1 << 20);
      EXPECT_GT(rank.step(), 0);
      EXPECT_GE(rank.data_stall_seconds(), 0);
    }
  }

  // The stored series contain only metrics of rank 0 and no record of rank 1.
  void ExpectOneVoice(int64_t job_id, int64_t attempt_number, int64_t last_step) {
    const v1::Series times = cluster_.RawSeries(job_id, "step_seconds", attempt_number);
    ASSERT_GT(times.steps_size(), 0);
    EXPECT_EQ(times.steps(times.steps_size() - 1), last_step);
    EXPECT_EQ(cluster_.RawSeries(job_id, "evaluation_seconds", attempt_number).steps_size(), 0);
  }

  MiniCluster cluster_;
  const std::string tokens_;
};

TEST_F(AccountingTest, RepeatedStepsAndEveryPhaseAreInTheLedger) {
  constexpr int kSteps = 600;
  const int64_t job_id = cluster_.Submit(
      cluster_.WriteJob("counted", TinyJob("counted", tokens_, 2, kSteps)),
      {"--set", "checkpoint.every_steps=100", "--set", "evaluation.every_steps=100"});
  // This step is well after a checkpoint, so that a restart has steps to repeat.
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 130));
  ExpectBothRanksTell(job_id);
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(job_id).progress().step() % 100 >= 30; }));
  const pid_t victim = cluster_.RankPid(job_id, 1, 1);
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  ASSERT_EQ(job.attempts_size(), 2);

  const v1::Attempt& first = job.attempts(0);
  ExpectOneVoice(job_id, 1, first.last_step());
  EXPECT_GT(first.last_step(), job.attempts(1).resume_step());
  EXPECT_EQ(job.attempts(1).last_step(), kSteps);
  EXPECT_EQ(first.time_use().load_ms(), 0) << "a fresh start";
  EXPECT_GT(job.attempts(1).time_use().load_ms(), 0);

  const v1::GetJobResponse described = cluster_.Described(job_id);
  std::map<v1::LedgerPhase, double> phases = PhasesOf(described.ledger());
  for (const v1::LedgerPhase phase :
       {v1::LEDGER_PHASE_INIT, v1::LEDGER_PHASE_LOAD, v1::LEDGER_PHASE_TRAIN,
        v1::LEDGER_PHASE_CHECKPOINT, v1::LEDGER_PHASE_EVALUATION, v1::LEDGER_PHASE_REDONE,
        v1::LEDGER_PHASE_RESTART}) {
    EXPECT_GT(phases[phase], 0) << v1::LedgerPhase_Name(phase);
  }
  int64_t sum_ms = 0;
  for (const auto& [phase, seconds] : phases) sum_ms += std::llround(seconds * 1000);
  EXPECT_EQ(sum_ms, job.ended_time_ms() - job.submitted_time_ms());

  // The rank that lost its peer raises an alert with the step at which the peer was lost.
  ASSERT_EQ(described.alerts_size(), 1) << described.DebugString();
  EXPECT_EQ(described.alerts(0).code(), "exit_69");
  EXPECT_EQ(described.alerts(0).step(), first.last_step());
}

// The worker stores the last step of an attempt, too, because the controller may die at any time.
TEST_F(AccountingTest, LastStepSurvivesTheController) {
  const int64_t job_id = cluster_.Submit(
      cluster_.WriteJob("kept", TinyJob("kept", tokens_, 2, 1'000'000)),
      {"--set", "checkpoint.every_steps=100000", "--set", "restart.max_restarts=0"});
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 50));
  cluster_.KillController();
  const pid_t victim = cluster_.RankPid(job_id, 1, 1);
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  cluster_.StartController();
  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_FAILED) << job.DebugString();
  const int64_t last_step = job.attempts(0).last_step();
  EXPECT_GE(last_step, 50);
  cluster_.KillController();
  cluster_.StartController();
  EXPECT_EQ(cluster_.Job(job_id).attempts(0).last_step(), last_step);
  const v1::Series loss = cluster_.RawSeries(job_id, "loss", 1);
  ASSERT_GT(loss.steps_size(), 0);
  EXPECT_EQ(loss.steps(loss.steps_size() - 1), last_step);
}

}  // namespace
}  // namespace trainyard::test
