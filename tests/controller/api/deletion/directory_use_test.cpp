#include "controller/api/deletion/directory_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <thread>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DirectoryUseTest : public testing::Test {
 protected:
  DirectoryUseTest() { fs::create_directories(directory_.File("own/deep")); }

  FileIdentity Own() const {
    return trainyard::PlaceOf(AT_FDCWD, directory_.File("own").c_str())->identity;
  }

  const TemporaryDirectory directory_;
};

TEST_F(DirectoryUseTest, FollowsLinksAndDirectoriesAboveThem) {
  fs::create_directory_symlink(directory_.File("own/deep"), directory_.File("link"));
  fs::create_directory_symlink(directory_.File("link"), directory_.File("second"));
  for (const char* name : {"own", "own/", "own/new", "link", "second/x/y", "own/deep/../deep"}) {
    EXPECT_TRUE(LeadsInto(directory_.File(name), Own())) << name;
  }
  for (const char* name : {"", "other", "own-2", "link/../../other"}) {
    EXPECT_FALSE(LeadsInto(directory_.File(name), Own())) << name;
  }
}

TEST_F(DirectoryUseTest, TheUserIsNamed) {
  EXPECT_TRUE(CheckNoJobUses(Own(), {}).ok());
  EXPECT_TRUE(CheckNoJobUses(Own(), {{8, "/none/such"}, {9, directory_.path()}}).ok());
  const absl::Status used = CheckNoJobUses(Own(), {{8, "/none"}, {9, directory_.File("own/deep")}});
  EXPECT_TRUE(absl::IsFailedPrecondition(used));
  EXPECT_THAT(used.message(), HasSubstr("job 9 uses the same directory"));
}

TEST_F(DirectoryUseTest, APathThatDoesNotAnswerHoldsUpNobodyForLong) {
  std::promise<void> answer;
  const std::shared_future<void> answered = answer.get_future().share();
  const auto leads = [answered](const std::string& path, const FileIdentity&) {
    if (path == "/hung") answered.wait();
    return false;
  };
  for (int i = 0; i < 20; ++i) {
    const absl::Status status =
        CheckNoJobUses(Own(), {{8, "/good"}, {9, "/hung"}}, std::chrono::milliseconds(1), leads);
    EXPECT_TRUE(absl::IsUnavailable(status));
    EXPECT_THAT(status.message(), HasSubstr("does not answer"));
  }
  answer.set_value();
  while (!CheckNoJobUses(Own(), {{8, "/good"}}).ok()) std::this_thread::yield();
}

}  // namespace
}  // namespace trainyard::controller
