#include "controller/store/files/data_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "controller/store/stores.h"
#include "tests/controller/store/child_process.h"
#include "tests/controller/store/temporary_directory.h"
#include "tests/fakes/full_disk.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(stat(path.c_str(), &info), 0);
  return info.st_mode & 0777;
}

TEST(DataDirectoryTest, CreatesItForTheOwnerOnly) {
  TemporaryDirectory temporary;
  const std::string path = temporary.File("a/b/data");
  auto stores = OpenSqliteStores(path + "/");
  ASSERT_TRUE(stores.ok()) << stores.status();
  EXPECT_EQ(ModeOf(path), 0700u);
  for (const char* file : {"LOCK", "events.db", "metrics.db", "logs.db"}) {
    EXPECT_EQ(ModeOf(path + "/" + file), 0600u) << file;
  }
}

TEST(DataDirectoryTest, RefusesSecondController) {
  TemporaryDirectory temporary;
  auto first = DataDirectory::Open(temporary.path());
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = OpenSqliteStores(temporary.path());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()),
              testing::AllOf(HasSubstr(absl::StrCat("another controller (pid ", getpid(), ")")),
                             HasSubstr("--data-dir")));
  first->reset();
  EXPECT_TRUE(OpenSqliteStores(temporary.path()).ok());
}

TEST(DataDirectoryTest, LockOfKilledControllerIsFree) {
  TemporaryDirectory temporary;
  ChildProcess child([&](int report_fd) {
    auto held = DataDirectory::Open(temporary.path());
    ChildProcess::Report(report_fd, held.ok() ? 1 : 0);
    while (true) pause();
  });
  int64_t holds = 0;
  ASSERT_TRUE(child.Read(holds));
  ASSERT_EQ(holds, 1);
  EXPECT_FALSE(DataDirectory::Open(temporary.path()).ok());
  child.Kill();
  EXPECT_TRUE(DataDirectory::Open(temporary.path()).ok());
}

TEST(DataDirectoryTest, OpensOnAFullDisk) {
  TemporaryDirectory temporary;
  ASSERT_TRUE(DataDirectory::Open(temporary.path()).ok());
  const FullDisk full(0);
  EXPECT_EQ(DataDirectory::Open(temporary.path()).status(), absl::OkStatus());
}

TEST(DataDirectoryTest, NamesThePathThatCannotBeUsed) {
  TemporaryDirectory temporary;
  std::ofstream(temporary.File("file")) << "text";
  auto opened = DataDirectory::Open(temporary.File("file"));
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(std::string(opened.status().message()), HasSubstr(temporary.File("file")));
  EXPECT_EQ(DataDirectory::Open("").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace trainyard::controller
