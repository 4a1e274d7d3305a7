#include "worker/spool/run_directory.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

namespace fs = std::filesystem;

TEST(RunDirectoryTest, MovesADirectoryToTheRoot) {
  TemporaryDir dir;
  fs::create_directories(dir.File("7/1/rank0"));
  EXPECT_EQ(MoveToRoot({dir.path(), "7/1"}, "removed-7-1"), absl::OkStatus());
  EXPECT_TRUE(fs::exists(dir.File("removed-7-1/rank0")));
  EXPECT_FALSE(fs::exists(dir.File("7/1")));
  EXPECT_EQ(MoveToRoot({dir.path(), "7/1"}, "again"), absl::OkStatus()) << "nothing is there";
  EXPECT_EQ(MoveToRoot({dir.path(), "8/1"}, "again"), absl::OkStatus());
}

TEST(RunDirectoryTest, MovesALinkItselfAndNothingBehindOne) {
  TemporaryDir dir;
  fs::create_directories(dir.File("8/1/rank0"));
  fs::create_directories(dir.File("9"));
  fs::create_directory_symlink(dir.File("8"), dir.File("7"));
  fs::create_directory_symlink(dir.File("8/1"), dir.File("9/1"));
  EXPECT_EQ(MoveToRoot({dir.path(), "7/1"}, "removed-7-1"), absl::OkStatus());
  EXPECT_FALSE(fs::exists(dir.File("removed-7-1")));
  EXPECT_EQ(MoveToRoot({dir.path(), "9/1"}, "removed-9-1"), absl::OkStatus());
  EXPECT_TRUE(fs::is_symlink(dir.File("removed-9-1")));
  EXPECT_TRUE(fs::exists(dir.File("8/1/rank0"))) << "the run directory of job 8";
}

}  // namespace
}  // namespace trainyard::worker
