// Processes that die at every point of a save.
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

// Passes the steps that another process publishes to this one. Like telemetry, they outlive the
// writer.
class Told {
 public:
  Told() {
    if (pipe(ends_) != 0) abort();
  }
  ~Told() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;

  auto Recorder() {
    return [this](const CheckpointEvent& event) {
      if (event.kind == CheckpointEvent::Kind::kPublished && write(ends_[1], &event.step, 8) != 8)
        abort();
    };
  }
  // The newest step that was reported; 0 when none was.
  int64_t Newest() {
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    int64_t newest = 0;
    while (read(ends_[0], &newest, 8) == 8) {
    }
    return newest;
  }

 private:
  int ends_[2];
};

// The checkpoint that the next attempt starts from when the controller names step `told`, the last
// one that was reported to it.
std::string NextStart(const CheckpointDirectory& directory, int64_t told) {
  return FindStartingPoint(directory.Step(told), directory.path(), kCrashingJob).path;
}

// A process that dies at any point of a save leaves the checkpoint before it, or the new one. The
// checkpoint that the controller names to the next attempt exists.
class CrashTest : public testing::TestWithParam<SavePhase> {
 protected:
  // Attempt 2, which keeps one checkpoint, comes to save step 30 and dies there.
  void DieInSave() {
    const pid_t child = fork();
    if (child == 0) {
      CheckpointWriterOptions options = directory_.Options({kCrashingJob, 2});
      options.retention.keep_last = 1;
      options.on_event = told_.Recorder();
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
  Told told_;
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

  const int64_t told = told_.Newest();
  EXPECT_EQ(told, GetParam() == SavePhase::kRetained ? 30 : 20);
  EXPECT_EQ(NextStart(directory_, told), directory_.Step(told)) << "it was retired";
  EXPECT_THAT(VerifyCheckpoint(directory_.Step(told)), IsEmpty());

  // The next attempt removes the unfinished files, and goes on.
  directory_.SaveWhole(40, Weights(4), AttemptKey{kCrashingJob, 3});
  EXPECT_EQ(ValueIn(directory_.Step(40)), 4);
  for (const std::string& name : directory_.Names()) EXPECT_THAT(name, Not(HasSubstr(".tmp")));
}

// All reports after step 10 are lost with the node that they were written on.
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

// Rank 1 dies. Rank 0, which publishes, does so exactly when the whole part of rank 1 is on disk;
// otherwise it abandons the save.
class PeerCrashTest : public testing::TestWithParam<SavePhase> {};

TEST_P(PeerCrashTest, RankZeroPublishesOnlyWhatIsWhole) {
  const CheckpointDirectory directory;
  directory.SaveWhole(10, Weights(1), AttemptKey{kCrashingJob, 1});
  Told told;
  CheckpointWriterOptions options = directory.Options({kCrashingJob, 2});
  options.world_size = 2;
  options.retention.keep_last = 1;
  options.peer_timeout_seconds = 0.05;
  options.on_event = told.Recorder();
  CheckpointWriter first(options);
  const pid_t child = fork();
  if (child == 0) {
    options.rank = 1;
    options.on_phase = [](SavePhase phase) {
      if (phase == GetParam()) _exit(42);
    };
    CheckpointWriter second(options);
    second.Save(20, {}, {WholeTensor("b", torch::full({3}, 2.0))});
    second.Finish();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << status;
  first.Save(20, {}, {WholeTensor("w", torch::full({64, 3}, 2.0))});
  first.Finish();

  const bool whole = GetParam() == SavePhase::kEntriesWritten;
  EXPECT_EQ(told.Newest(), whole ? 20 : 0);
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
