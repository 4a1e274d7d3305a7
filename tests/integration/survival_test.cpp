// Tests, with real processes, that a run survives kills. A killed rank costs one restart and does
// not change a bit of the loss. A killed worker or controller costs nothing.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

// More steps than any test needs, so that no job ends before the test has disturbed it.
constexpr int kForEver = 1'000'000;

class SurvivalTest : public testing::Test {
 protected:
  SurvivalTest() : cluster_(2), tokens_(cluster_.MakeTokens()) {}

  int64_t Start(const std::string& name) {
    return cluster_.Submit(cluster_.WriteJob(name, TinyJob(name, tokens_, 2, kForEver)));
  }

  int64_t StepNow(int64_t job_id) { return cluster_.Job(job_id).progress().step(); }

  // Checks that the job is still in its first attempt and has lost no step and no line of output.
  void ExpectUndisturbed(int64_t job_id) {
    const v1::Job job = cluster_.StopAfter(job_id, StepNow(job_id) + 20);
    EXPECT_EQ(job.attempts_size(), 1);
    ExpectEachStepOnce(job_id);
    ExpectNoGapInLogs(job_id);
  }

  bool WaitForAttempt(int64_t job_id, int attempts) {
    return Eventually([&] {
      const v1::Job job = cluster_.Job(job_id);
      return job.attempts_size() == attempts && job.state() == v1::JOB_STATE_RUNNING;
    });
  }

  // Checks that, up to the job's last step, the losses of steps and evaluations equal the losses of
  // an undisturbed run, bit for bit.
  void ExpectLossesOfAnUndisturbedRun(int64_t job_id) {
    const auto actual = cluster_.Series(job_id, "loss");
    ASSERT_FALSE(actual.empty());
    const int64_t last = actual.rbegin()->first;
    EXPECT_EQ(static_cast<int64_t>(actual.size()), last) << "every step is there";
    const int64_t undisturbed = Start("undisturbed");
    cluster_.StopAfter(undisturbed, last);
    for (const char* key : {"loss", "val_loss"}) {
      auto expected = cluster_.Series(undisturbed, key);
      expected.erase(expected.upper_bound(last), expected.end());
      EXPECT_EQ(cluster_.Series(job_id, key), expected) << key;
    }
  }

  // Checks that every step of the first attempt is stored exactly once.
  void ExpectEachStepOnce(int64_t job_id) {
    const v1::Series loss = cluster_.RawSeries(job_id, "loss", 1);
    ASSERT_GT(loss.steps_size(), 0);
    for (int i = 0; i < loss.steps_size(); ++i) {
      EXPECT_EQ(loss.steps(i), 1 + i);
      EXPECT_EQ(loss.counts(i), 1);
    }
    EXPECT_EQ(NewestCheckpoint(job_id).step(), loss.steps_size()) << "saved at the step it left";
  }

  // Checks that the stored output of rank 0 equals its written output: the lines follow each other
  // without a gap, from the header to the last step. The other ranks print nothing.
  void ExpectNoGapInLogs(int64_t job_id) {
    const std::vector<v1::LogLine> lines = cluster_.Logs(job_id, 0, 1);
    ASSERT_FALSE(lines.empty());
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

  // Returns the newest checkpoint known to the controller while rank 1 of the gang is stalled.
  // Returns nullopt as long as the gang might publish another checkpoint. The gang cannot if rank 0
  // waits for rank 1's part of a save, or if no save is in progress.
  std::optional<v1::Checkpoint> NewestOfAll(int64_t job_id) {
    const v1::Checkpoint newest = NewestCheckpoint(job_id);
    const std::string directory = cluster_.Job(job_id).spec().checkpoint().dir();
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      const std::filesystem::path& path = entry.path();
      const std::string name = path.filename().string();
      if (!name.starts_with("step_")) continue;
      if (name.find(".tmp-") != std::string::npos) {
        const bool lacks_rank_1 = std::filesystem::exists(path / "rank_00000.json") &&
                                  !std::filesystem::exists(path / "rank_00001.json");
        if (!lacks_rank_1) return std::nullopt;
      } else if (path.string() > newest.path()) {
        return std::nullopt;  // The controller has not received the checkpoint's record.
      }
    }
    return newest;
  }

  MiniCluster cluster_;
  const std::string tokens_;
};

TEST_F(SurvivalTest, KilledRankCostsOneRestartAndNotABitOfTheLoss) {
  const int64_t job_id = Start("disturbed");
  ASSERT_TRUE(cluster_.WaitForCheckpoint(job_id, 40));
  const pid_t victim = cluster_.RankPid(job_id, 1, 1);
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  ASSERT_TRUE(WaitForAttempt(job_id, 2));
  const int64_t resume_step = cluster_.Job(job_id).attempts(1).resume_step();
  const v1::Job job = cluster_.StopAfter(job_id, std::max(StepNow(job_id), resume_step + 60));

  ASSERT_EQ(job.attempts_size(), 2);
  const v1::Verdict& verdict = job.attempts(0).verdict();
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_RANK_SIGNALED) << verdict.DebugString();
  EXPECT_EQ(verdict.rank(), 1);
  EXPECT_EQ(verdict.signal(), SIGKILL);
  EXPECT_GE(resume_step, 40);
  ExpectLossesOfAnUndisturbedRun(job_id);
}

TEST_F(SurvivalTest, DamagedCheckpointIsPassedOver) {
  const int64_t job_id = Start("damaged");
  ASSERT_TRUE(cluster_.WaitForCheckpoint(job_id, 60));
  const pid_t victim = cluster_.RankPid(job_id, 1, 1);
  ASSERT_GT(victim, 0);
  // While one rank is stalled, the gang publishes no checkpoint, except from a save already in
  // progress.
  kill(victim, SIGSTOP);
  std::optional<v1::Checkpoint> newest;
  ASSERT_TRUE(Eventually([&] { return (newest = NewestOfAll(job_id)).has_value(); }));
  const std::string chunks = newest->path() + "/rank_00001.safetensors";
  std::filesystem::resize_file(chunks, std::filesystem::file_size(chunks) / 2);
  kill(victim, SIGKILL);
  ASSERT_TRUE(WaitForAttempt(job_id, 3));

  const v1::Job job = cluster_.StopAfter(job_id, newest->step() + 40);
  ASSERT_EQ(job.attempts_size(), 3);
  EXPECT_EQ(job.attempts(1).resume_step(), newest->step());
  const v1::Verdict& verdict = job.attempts(1).verdict();
  EXPECT_EQ(verdict.cause(), v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED) << verdict.DebugString();
  EXPECT_EQ(verdict.checkpoint(), newest->path());
  EXPECT_THAT(verdict.log_tail(), testing::HasSubstr("rank_00001.safetensors is damaged"));
  EXPECT_GT(job.attempts(2).resume_step(), 0);
  EXPECT_LT(job.attempts(2).resume_step(), newest->step());
  EXPECT_EQ(job.restarts(), 1) << "the killed rank; the damaged checkpoint is not the job's fault";
  ExpectLossesOfAnUndisturbedRun(job_id);
  const std::string told = cluster_.Cli({"describe", "damaged"}).output;
  EXPECT_THAT(told, testing::HasSubstr("checkpoint " + newest->path() + " rejected: rank "));
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
  ExpectUndisturbed(job_id);
}

TEST_F(SurvivalTest, BothWorkersMayBeAwayAtOnce) {
  const int64_t job_id = Start("workers-killed");
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 20));
  cluster_.KillWorker(0);
  cluster_.KillWorker(1);
  cluster_.StartWorker(0);
  cluster_.StartWorker(1);
  ExpectUndisturbed(job_id);
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
  ExpectUndisturbed(job_id);
}

TEST_F(SurvivalTest, JobThatEndsWhileTheControllerIsAwayHasEndedWell) {
  const int64_t job_id =
      cluster_.Submit(cluster_.WriteJob("unseen-end", TinyJob("unseen-end", tokens_, 2, 400)));
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 20));
  const pid_t ranks[] = {cluster_.RankPid(job_id, 1, 0), cluster_.RankPid(job_id, 1, 1)};
  cluster_.KillController();
  for (const pid_t rank : ranks) {
    ASSERT_GT(rank, 0);
    ASSERT_TRUE(Eventually([&] { return kill(rank, 0) != 0; }, Seconds(120)));
  }
  cluster_.StartController();
  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1);
  ExpectEachStepOnce(job_id);
  ExpectNoGapInLogs(job_id);
}

TEST_F(SurvivalTest, StopSavesACheckpointAndLeaves) { ExpectUndisturbed(Start("stopped")); }

}  // namespace
}  // namespace trainyard::test
