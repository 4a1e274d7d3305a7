#include "proto/support/guarded_path.h"

#include <fcntl.h>

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/support/durable_file.h"
#include "tests/fakes/hung_file_system.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

class GuardedPathTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(directory_.File("own/1/2"));
    fs::create_directories(directory_.File("other/2"));
    WriteFile(directory_.File("own/1/2/file"), "text");
    WriteFile(directory_.File("other/2/file"), "foreign");
  }
  GuardedPath Below(const std::string& below) const { return {directory_.File("own"), below}; }
  static absl::StatusCode CodeOf(const GuardedPath& path) {
    return OpenGuarded(path, O_RDONLY).status().code();
  }

  TemporaryDirectory directory_;
};

TEST_F(GuardedPathTest, OpensFilesOfItsDisk) {
  const absl::StatusOr<UniqueFd> file = OpenGuarded(Below("1/2/file"), O_RDONLY);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*ReadSmallFile(*file, "file", 100), "text");
  EXPECT_EQ(StatGuardedFile(Below("1/2/file"))->st_size, 4);
  EXPECT_TRUE(OpenGuarded(directory_.File("own/1/2/file"), O_WRONLY).ok());
  EXPECT_TRUE(OpenGuardedDirectory(Below("1/2")).ok());
}

TEST_F(GuardedPathTest, AMissingFileIsNotFound) {
  EXPECT_EQ(CodeOf(Below("1/2/none")), absl::StatusCode::kNotFound);
  EXPECT_EQ(CodeOf(Below("1/3/file")), absl::StatusCode::kNotFound);
  EXPECT_FALSE(StatGuarded(Below("1/3/file")).has_value());
}

TEST_F(GuardedPathTest, FollowsNoLink) {
  fs::create_symlink(directory_.File("other"), directory_.File("own/link"));
  fs::create_symlink(directory_.File("other/2/file"), directory_.File("own/1/2/alias"));
  for (const char* below : {"link/2/file", "1/2/alias"}) {
    EXPECT_EQ(CodeOf(Below(below)), absl::StatusCode::kFailedPrecondition) << below;
    EXPECT_FALSE(StatGuardedFile(Below(below)).has_value()) << below;
  }
}

TEST_F(GuardedPathTest, OnlyARegularFileIsAFile) {
  EXPECT_EQ(CodeOf(Below("1/2")), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(StatGuarded(Below("1/2")).has_value());
  EXPECT_FALSE(StatGuardedFile(Below("1/2")).has_value());
  EXPECT_EQ(CodeOf(Below("1/2/file/deeper")), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(OpenGuardedDirectory(Below("1/2/file")).ok());
}

TEST_F(GuardedPathTest, WaitsForNoFileSystemThatHangs) {
  const HungFileSystem hung(directory_.File("own/1/2"));
  if (!hung.mounted()) GTEST_SKIP() << HungFileSystem::kSkipped;
  for (const char* below : {"1/2", "1/2/file"}) {
    EXPECT_EQ(CodeOf(Below(below)), absl::StatusCode::kFailedPrecondition) << below;
    EXPECT_FALSE(StatGuarded(Below(below)).has_value()) << below;
  }
}

}  // namespace
}  // namespace trainyard
