// Tests a full checkpoint disk. A full disk must not cause any step to be trained twice.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"
#include "tests/integration/small_disk.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class FullCheckpointDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.mounted()) GTEST_SKIP() << "needs root, to mount a small disk";
  }

  // Starts a job with `steps` steps that saves a checkpoint every 20 steps.
  int64_t Start(const std::string& name, int steps) {
    const std::string dir = absl::StrCat("checkpoint: {dir: ", disk_.directory(), "/", name, ", ");
    return cluster_.Submit(cluster_.WriteJob(
        name,
        absl::StrReplaceAll(TinyJob(name, tokens_, 1, steps),
                            {{"checkpoint: {", dir}, {"stop_grace: 20s", "stop_grace: 2s"}})));
  }
  // Waits for the alert while keeping the disk full. Each failed save and each removed checkpoint
  // frees some space, which is filled again.
  bool WaitForAlertOnFullDisk(int64_t job_id, const std::string& code) {
    return Eventually([&] {
      disk_.Fill();
      const v1::GetJobResponse described = cluster_.Described(job_id);
      return std::ranges::any_of(described.alerts(),
                                 [&](const v1::Alert& alert) { return alert.code() == code; });
    });
  }
  std::string Why(int64_t job_id) { return cluster_.Cli({"why", std::to_string(job_id)}).output; }

  MiniCluster cluster_{1};
  const std::string tokens_ = cluster_.MakeTokens();
  const SmallDisk disk_{cluster_.directory() + "/checkpoints", 16 << 20};
};

TEST_F(FullCheckpointDiskTest, TheLastSaveWaitsUntilThereIsSpace) {
  const int64_t job_id = Start("waits", 600);
  ASSERT_TRUE(cluster_.WaitForCheckpoint(job_id, 20)) << cluster_.DaemonLogs();
  ASSERT_TRUE(WaitForAlertOnFullDisk(job_id, "checkpoint_blocked")) << cluster_.DaemonLogs();
  EXPECT_THAT(Why(job_id), AllOf(HasSubstr("no checkpoint since step"), HasSubstr("waits"),
                                 HasSubstr("No space left on device")));
  disk_.Empty();
  const v1::Job job = cluster_.WaitForEnd(job_id);
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1) << "nothing was trained twice";
  EXPECT_TRUE(cluster_.WaitForCheckpoint(job_id, 600));
}

TEST_F(FullCheckpointDiskTest, SavesThatFailLetTrainingGoOnAndAStopSaysThatNothingWasSaved) {
  const int64_t job_id = Start("stopped", 100'000);
  ASSERT_TRUE(cluster_.WaitForCheckpoint(job_id, 20)) << cluster_.DaemonLogs();
  ASSERT_TRUE(WaitForAlertOnFullDisk(job_id, "checkpoint_failed")) << cluster_.DaemonLogs();
  for (int saves = 0; saves < 4; ++saves) {
    disk_.Fill();
    const int64_t seen = cluster_.Job(job_id).progress().step();
    EXPECT_TRUE(cluster_.WaitForStep(job_id, seen + 20)) << "training goes on";
  }
  EXPECT_THAT(Why(job_id), HasSubstr("no checkpoint since step"));
  EXPECT_EQ(cluster_.Cli({"stop", std::to_string(job_id), "--yes"}).exit_code, 0);
  const v1::Job job = cluster_.WaitForEnd(job_id);
  EXPECT_EQ(job.state(), v1::JOB_STATE_STOPPED);
  EXPECT_THAT(job.verdict().summary(),
              AllOf(HasSubstr("no checkpoint was saved when the ranks stopped"),
                    HasSubstr(" steps after step "), Not(HasSubstr("retrying")),
                    Not(HasSubstr("free disk space"))));
  EXPECT_GE(job.verdict().lost_steps(), 80);
}

}  // namespace
}  // namespace trainyard::test
