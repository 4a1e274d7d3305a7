// Checks the files that a process leaves when it dies during a save, for every point of the save.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "trainer/checkpoint/starting_point.h"

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kCrashingJob = 7;

// A pipe through which a child process reports the steps that it has published. Like telemetry, the
// reports survive the child.
class StepReports {
 public:
  StepReports() {
    if (pipe(ends_) != 0) abort();
  }
  ~StepReports() {
    close(ends_[0]);
    close(ends_[1]);
  }
  StepReports(const StepReports&) = delete;
  StepReports& operator=(const StepReports&) = delete;

  auto Recorder() {
    return [this](const CheckpointEvent& event) {
      if (event.kind == CheckpointEvent::Kind::kPublished && write(ends_[1], &event.step, 8) != 8)
        abort();
    };
  }
  // Returns the newest reported step; 0 if none was reported.
  int64_t Newest() {
    // Reads without blocking. This process also has the write end open, so a blocking read would
    // never reach the end of the pipe.
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    int64_t newest = 0;
    while (read(ends_[0], &newest, 8) == 8) {
    }
    return newest;
  }

 private:
  int ends_[2];
};

// Returns the checkpoint from which the next attempt starts. `reported` is the newest step that the
// controller knows and names to the attempt.
std::string NextStart(const CheckpointDirectory& directory, int64_t reported) {
  return FindStartingPoint(directory.Step(reported), directory.path(), kCrashingJob).path;
}

// After a process has died during a save, the previous or the new checkpoint must be complete. The
// checkpoint that the controller names to the next attempt must exist.
class CrashTest : public testing::TestWithParam<SavePhase> {
 protected:
  // Attempt 2 saves step 20, then dies at phase GetParam() while it saves step 30. Retention keeps
  // one checkpoint, so the save of step 20 deletes attempt 1's step 10.
  void DieInSave() {
    const pid_t child = fork();
    if (child == 0) {
      CheckpointWriterOptions options = directory_.Options({kCrashingJob, 2});
      options.retention.keep_last = 1;
      options.on_event = reports_.Recorder();
      bool dies = false;
      options.on_phase = [&dies](SavePhase phase) {
        if (dies && phase == GetParam()) _exit(42);
      };
      CheckpointWriter writer(options);
      writer.Save(20, {}, Weights(2));
      writer.Finish();
      dies = true;
      writer.Save(30, {}, Weights(3));
      writer.Finish();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 42);
  }

  const CheckpointDirectory directory_;
  StepReports reports_;
};

TEST_P(CrashTest, LeavesAGoodCheckpoint) {
  directory_.SaveWhole(10, Weights(1), AttemptKey{kCrashingJob, 1});
  DieInSave();
  const bool published = GetParam() >= SavePhase::kPublished;
  const std::optional<PublishedCheckpoint> latest = LatestCheckpoint(directory_.path());
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->step, published ? 30 : 20);
  EXPECT_EQ(ValueIn(latest->path), published ? 3 : 2);
  EXPECT_THAT(VerifyCheckpoint(latest->path), IsEmpty());

  // A step is reported after its checkpoint is published and before older checkpoints are deleted.
  const int64_t reported = reports_.Newest();
  EXPECT_EQ(reported, GetParam() == SavePhase::kRetained ? 30 : 20);
  EXPECT_EQ(NextStart(directory_, reported), directory_.Step(reported)) << "retention deleted it";
  EXPECT_THAT(VerifyCheckpoint(directory_.Step(reported)), IsEmpty());

  // Attempt 3 removes the unfinished files of attempt 2 and saves a checkpoint.
  directory_.SaveWhole(40, Weights(4), AttemptKey{kCrashingJob, 3});
  EXPECT_EQ(ValueIn(directory_.Step(40)), 4);
  for (const std::string& name : directory_.Names()) EXPECT_THAT(name, Not(HasSubstr(".tmp")));
}

// The node is lost before it delivers its reports of steps 20 and 30, so the controller still names
// step 10, which retention has deleted. The next attempt must fall back to the newest checkpoint on
// disk.
TEST_P(CrashTest, LeavesAStartWhenTheNewsAreLost) {
  directory_.SaveWhole(10, Weights(1), AttemptKey{kCrashingJob, 1});
  DieInSave();
  const std::string start = NextStart(directory_, 10);
  EXPECT_EQ(start, LatestCheckpoint(directory_.path())->path);
  EXPECT_THAT(VerifyCheckpoint(start), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(EveryPhase, CrashTest,
                         testing::Values(SavePhase::kCopied, SavePhase::kChunksWritten,
                                         SavePhase::kEntriesWritten, SavePhase::kAllRanksWritten,
                                         SavePhase::kManifestWritten, SavePhase::kFenceHeld,
                                         SavePhase::kPublished, SavePhase::kRetained));

// Rank 1 dies during a save. A rank writes its list of entries after its data. If rank 1 has
// written its list, rank 0 publishes the checkpoint; otherwise rank 0 abandons the save.
class PeerCrashTest : public testing::TestWithParam<SavePhase> {};

TEST_P(PeerCrashTest, RankZeroPublishesOnlyWhatIsWhole) {
  const CheckpointDirectory directory;
  directory.SaveWhole(10, Weights(1), AttemptKey{kCrashingJob, 1});
  StepReports reports;
  CheckpointWriterOptions options = directory.Options({kCrashingJob, 2});
  options.world_size = 2;
  options.retention.keep_last = 1;
  options.peer_timeout_seconds = 0.05;
  options.on_event = reports.Recorder();
  CheckpointWriter rank0(options);
  const pid_t child = fork();
  if (child == 0) {
    options.rank = 1;
    options.on_phase = [](SavePhase phase) {
      if (phase == GetParam()) _exit(42);
    };
    CheckpointWriter rank1(options);
    rank1.Save(20, {}, {WholeTensor("b", torch::full({3}, 2.0))});
    rank1.Finish();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << status;
  rank0.Save(20, {}, {WholeTensor("w", torch::full({64, 3}, 2.0))});
  rank0.Finish();

  const bool whole = GetParam() == SavePhase::kEntriesWritten;
  EXPECT_EQ(reports.Newest(), whole ? 20 : 0);
  const std::string start = NextStart(directory, whole ? 20 : 10);
  EXPECT_EQ(start, directory.Step(whole ? 20 : 10));
  EXPECT_THAT(VerifyCheckpoint(start), IsEmpty());
  EXPECT_EQ(ValueIn(start), whole ? 2 : 1);
}

INSTANTIATE_TEST_SUITE_P(EveryPhase, PeerCrashTest,
                         testing::Values(SavePhase::kCopied, SavePhase::kChunksWritten,
                                         SavePhase::kEntriesWritten));

}  // namespace
}  // namespace trainyard::trainer
