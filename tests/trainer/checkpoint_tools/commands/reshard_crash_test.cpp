// Kills a process at each phase of resharding and checks the files that it leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "trainer/checkpoint_tools/commands/reshard.h"

namespace trainyard::trainer {
namespace {

using testing::IsEmpty;

class ReshardCrashTest : public testing::TestWithParam<ReshardPhase> {
 protected:
  // Starts a process that reshards to to_.Step(1) and dies at phase GetParam().
  void DieWhileResharding(bool replace) const {
    const pid_t child = fork();
    if (child == 0) {
      ReshardOptions options = {from_.Step(1), to_.Step(1), 2, false, replace};
      options.on_phase = [](ReshardPhase phase) {
        if (phase == GetParam()) _exit(42);
      };
      Reshard(options, false);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42) << status;
  }

  const CheckpointDirectory from_, to_;
};

TEST_P(ReshardCrashTest, OnlyWholeCheckpointsAreListed) {
  from_.SaveWhole(1, Weights(1));
  DieWhileResharding(false);
  const bool is_published = GetParam() == ReshardPhase::kPublished;
  const std::vector<PublishedCheckpoint> listed = ListCheckpoints(to_.path());
  ASSERT_EQ(listed.size(), is_published ? 1u : 0u);
  for (const PublishedCheckpoint& checkpoint : listed) {
    EXPECT_THAT(VerifyCheckpoint(checkpoint.path), IsEmpty());
  }
  // Files left by the first try must not prevent the second try.
  Reshard({from_.Step(1), to_.Step(1), 3, false, is_published}, false);
  EXPECT_THAT(VerifyCheckpoint(to_.Step(1)), IsEmpty());
}

TEST_P(ReshardCrashTest, AReplacedCheckpointIsTheOldOneOrTheNewOne) {
  from_.SaveWhole(1, Weights(1));
  to_.SaveWhole(1, Weights(2));
  DieWhileResharding(true);
  ASSERT_EQ(ListCheckpoints(to_.path()).size(), 1u);
  EXPECT_THAT(VerifyCheckpoint(to_.Step(1)), IsEmpty());
  EXPECT_EQ(ValueIn(to_.Step(1)), GetParam() == ReshardPhase::kPublished ? 1 : 2);
}

INSTANTIATE_TEST_SUITE_P(EveryPhase, ReshardCrashTest,
                         testing::Values(ReshardPhase::kWindowWritten, ReshardPhase::kFilesWritten,
                                         ReshardPhase::kManifestWritten, ReshardPhase::kPublished));

}  // namespace
}  // namespace trainyard::trainer
