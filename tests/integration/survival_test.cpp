// The promises of a run's life, with real processes: a killed rank costs one restart and not a bit
// of the loss; a killed worker or controller costs nothing.
#include <signal.h>

#include <filesystem>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

constexpr int kSteps = 240;

class SurvivalTest : public testing::Test {
 protected:
  SurvivalTest() : cluster_(2), tokens_(cluster_.MakeTokens()) {}

  int64_t Start(const std::string& name) {
    return cluster_.Submit(cluster_.WriteJob(name, TinyJob(name, tokens_, 2, kSteps)));
  }

  // Every step of the attempt is there once: none missing, none double.
  void ExpectEachStepOnce(int64_t job_id, int64_t epoch, int64_t first, int64_t last) {
    const v1::Series loss = cluster_.RawSeries(job_id, "loss", epoch);
    ASSERT_EQ(loss.steps_size(), last - first + 1);
    for (int i = 0; i < loss.steps_size(); ++i) {
      EXPECT_EQ(loss.steps(i), first + i);
      EXPECT_EQ(loss.counts(i), 1);
    }
  }

  // The stored output of rank 0 (the others print nothing) is all that it wrote: lines follow each
  // other byte by byte, from the header to the last step.
  void ExpectNoGapInLogs(int64_t job_id, int64_t epoch) {
    const std::vector<v1::LogLine> lines = cluster_.Logs(job_id, 0, epoch);
    ASSERT_GT(lines.size(), static_cast<std::size_t>(kSteps));
    EXPECT_THAT(lines.front().text(), testing::HasSubstr("trainyard-trainer"));
    EXPECT_THAT(lines.back().text(), testing::HasSubstr("done at step"));
    int64_t offset = 0;
    for (const v1::LogLine& line : lines) {
      EXPECT_EQ(line.offset(), offset);
      offset = line.offset() + static_cast<int64_t>(line.text().size()) + 1;
    }
  }

  v1::Checkpoint NewestCheckpoint(int64_t job_id) {
    const v1::Job job = cluster_.Job(job_id);
    v1::Checkpoint newest;
    for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
      if (checkpoint.step() > newest.step()) newest = checkpoint;
    }
    return newest;
  }

  MiniCluster cluster_;
  const std::string tokens_;
};

TEST_F(SurvivalTest, KilledRankCostsOneRestartAndNotABitOfTheLoss) {
  const int64_t undisturbed = Start("undisturbed");
  ASSERT_EQ(cluster_.WaitForEnd(undisturbed).state(), v1::JOB_STATE_SUCCEEDED);

  const int64_t job_id = Start("disturbed");
  ASSERT_TRUE(cluster_.WaitForCheckpoint(job_id, 40));
  const pid_t victim = cluster_.RankPid(job_id, 1, 1);
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();

  ASSERT_EQ(job.attempts_size(), 2);
  const v1::Verdict& verdict = job.attempts(0).verdict();
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_RANK_SIGNALED) << verdict.DebugString();
  EXPECT_EQ(verdict.rank(), 1);
  EXPECT_EQ(verdict.signal(), SIGKILL);
  EXPECT_GE(job.attempts(1).resume_step(), 40);
  EXPECT_EQ(job.attempts(1).resume_step() % 20, 0);

  const auto expected = cluster_.Series(undisturbed, "loss");
  const auto actual = cluster_.Series(job_id, "loss");
  ASSERT_EQ(expected.size(), static_cast<std::size_t>(kSteps));
  EXPECT_EQ(actual, expected) << "bit for bit at every step";
  EXPECT_EQ(cluster_.Series(job_id, "val_loss"), cluster_.Series(undisturbed, "val_loss"));
}

TEST_F(SurvivalTest, DamagedCheckpointIsPassedOver) {
  const int64_t undisturbed = Start("undisturbed");
  ASSERT_EQ(cluster_.WaitForEnd(undisturbed).state(), v1::JOB_STATE_SUCCEEDED);

  const int64_t job_id = Start("damaged");
  ASSERT_TRUE(cluster_.WaitForCheckpoint(job_id, 40));
  const pid_t victim = cluster_.RankPid(job_id, 1, 1);
  ASSERT_GT(victim, 0);
  // A gang publishes nothing more while one of its ranks stands still; what was under way comes
  // through first.
  kill(victim, SIGSTOP);
  v1::Checkpoint newest;
  ASSERT_TRUE(Eventually([&] {
    const v1::Checkpoint before = newest;
    newest = NewestCheckpoint(job_id);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return before.step() == newest.step();
  }));
  const std::string chunks = newest.path() + "/rank_00001.safetensors";
  std::filesystem::resize_file(chunks, std::filesystem::file_size(chunks) / 2);
  kill(victim, SIGKILL);

  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  ASSERT_EQ(job.attempts_size(), 3);
  EXPECT_EQ(job.attempts(1).resume_step(), newest.step());
  const v1::Verdict& verdict = job.attempts(1).verdict();
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED) << verdict.DebugString();
  EXPECT_EQ(verdict.checkpoint(), newest.path());
  EXPECT_THAT(verdict.log_tail(), testing::HasSubstr("rank_00001.safetensors is damaged"));
  EXPECT_EQ(job.attempts(2).resume_step(), newest.step() - 20);
  EXPECT_EQ(job.restarts(), 1) << "the killed rank; the damaged checkpoint is not the job's fault";
  EXPECT_EQ(cluster_.Series(job_id, "loss"), cluster_.Series(undisturbed, "loss"));
  const std::string told = cluster_.Cli({"describe", "damaged"}).output;
  EXPECT_THAT(told, testing::HasSubstr("checkpoint " + newest.path() + " given up: rank "));
  EXPECT_THAT(told, testing::HasSubstr("could not read the checkpoint of step"));
}

TEST_F(SurvivalTest, KilledWorkerDoesNotStopTheTrainer) {
  const int64_t job_id = Start("worker-killed");
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 20));
  const pid_t ranks[] = {cluster_.RankPid(job_id, 1, 0), cluster_.RankPid(job_id, 1, 1)};
  cluster_.KillWorker(0);
  for (const pid_t rank : ranks) {
    ASSERT_GT(rank, 0);
    EXPECT_EQ(kill(rank, 0), 0) << "ranks outlive their worker";
  }
  cluster_.StartWorker(0);
  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1);
  ExpectEachStepOnce(job_id, 1, 1, kSteps);
  ExpectNoGapInLogs(job_id, 1);
}

TEST_F(SurvivalTest, BothWorkersMayBeAwayAtOnce) {
  const int64_t job_id = Start("workers-killed");
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 20));
  cluster_.KillWorker(0);
  cluster_.KillWorker(1);
  cluster_.StartWorker(0);
  cluster_.StartWorker(1);
  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1);
  ExpectEachStepOnce(job_id, 1, 1, kSteps);
}

TEST_F(SurvivalTest, KilledControllerCostsNothing) {
  const int64_t job_id = Start("controller-killed");
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 20));
  const pid_t rank = cluster_.RankPid(job_id, 1, 0);
  for (int i = 0; i < 3; ++i) {
    cluster_.KillController();
    cluster_.StartController();
  }
  EXPECT_EQ(kill(rank, 0), 0);
  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1);
  ExpectEachStepOnce(job_id, 1, 1, kSteps);
  ExpectNoGapInLogs(job_id, 1);
}

TEST_F(SurvivalTest, StopSavesACheckpointAndLeaves) {
  const int64_t job_id = Start("stopped");
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 30));
  ASSERT_EQ(cluster_.Cli({"stop", std::to_string(job_id)}).exit_code, 0);
  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_STOPPED);
  int64_t newest = 0;
  for (const v1::Checkpoint& checkpoint : job.checkpoints()) {
    newest = std::max(newest, checkpoint.step());
  }
  EXPECT_GE(newest, 30);
  const auto loss = cluster_.Series(job_id, "loss");
  ASSERT_FALSE(loss.empty());
  EXPECT_EQ(newest, loss.rbegin()->first) << "saved at the step it left";
}

}  // namespace
}  // namespace trainyard::test
