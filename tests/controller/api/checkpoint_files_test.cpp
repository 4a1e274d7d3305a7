#include "controller/api/checkpoint_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;

class CheckpointFilesTest : public testing::Test {
 protected:
  CheckpointFilesTest() {
    for (const char* step : {"step-1", "step-2"}) {
      fs::create_directories(job_ / step);
      std::ofstream(job_ / step / "manifest.json") << "{}";
      std::ofstream(job_ / step / "weights") << "w";
    }
  }

  TemporaryDirectory directory_;
  const fs::path root_ = fs::path(directory_.path()) / "ckpt";
  const fs::path job_ = root_ / "1-job";
};

TEST_F(CheckpointFilesTest, RemovesOneCheckpointAndThenTheEmptyDirectory) {
  ASSERT_TRUE(RemoveCheckpoint(job_ / "step-1", root_).ok());
  EXPECT_FALSE(fs::exists(job_ / "step-1"));
  EXPECT_TRUE(fs::exists(job_ / "step-2" / "weights"));
  EXPECT_TRUE(RemoveCheckpoint(job_ / "step-1", root_).ok()) << "gone already";
  ASSERT_TRUE(RemoveCheckpoint(job_ / "step-2", root_).ok());
  EXPECT_FALSE(fs::exists(job_));
  EXPECT_TRUE(fs::exists(root_));
}

TEST_F(CheckpointFilesTest, FollowsNoLinkOutOfTheRoot) {
  const fs::path outside = fs::path(directory_.path()) / "home";
  fs::create_directories(outside / "step-1");
  std::ofstream(outside / "step-1" / "thesis") << "t";
  fs::create_directory_symlink(outside, root_ / "2-job");
  EXPECT_TRUE(absl::IsFailedPrecondition(RemoveCheckpoint(root_ / "2-job" / "step-1", root_)));
  EXPECT_TRUE(fs::exists(outside / "step-1" / "thesis"));
}

TEST_F(CheckpointFilesTest, LeavesWhatThisMachineDoesNotSee) {
  CheckpointsOfDeletion sorted{.removable = {job_ / "step-1", "/not/here"}, .kept = {}};
  KeepUnseen(sorted);
  EXPECT_EQ(sorted.removable, std::vector<std::string>{job_ / "step-1"});
  ASSERT_EQ(sorted.kept.size(), 1U);
  EXPECT_EQ(sorted.kept.front().path(), "/not/here");
}

}  // namespace
}  // namespace trainyard::controller
