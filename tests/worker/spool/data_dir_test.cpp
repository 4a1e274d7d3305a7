#include "worker/spool/data_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "tests/fakes/full_disk.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

unsigned ModeOf(const std::string& path) {
  struct stat info {};
  EXPECT_EQ(stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777;
}

TEST(DataDirTest, MakesItselfAndItsNodeIdOnce) {
  TemporaryDir dir;
  const std::string path = dir.File("a/b");
  std::string id;
  {
    auto first = DataDir::Open(path);
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ((*first)->node_id(), "");
    ASSERT_EQ((*first)->MakeIdentity(), absl::OkStatus());
    id = (*first)->node_id();
  }
  EXPECT_THAT(id, MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(id.size(), 32u);
  auto second = DataDir::Open(path);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ((*second)->node_id(), id);
  ASSERT_EQ((*second)->MakeIdentity(), absl::OkStatus());
  EXPECT_EQ((*second)->node_id(), id);
  EXPECT_THAT((*second)->node_secret(), MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(ModeOf(path), 0700u);
  EXPECT_EQ(ModeOf(path + "/node_id"), 0600u);
}

TEST(DataDirTest, SecondWorkerIsRefusedWithThePidOfTheFirst) {
  TemporaryDir dir;
  auto first = DataDir::Open(dir.path());
  ASSERT_TRUE(first.ok());
  const auto second = DataDir::Open(dir.path());
  EXPECT_TRUE(absl::IsAlreadyExists(second.status()));
  EXPECT_THAT(Message(second.status()), HasSubstr(absl::StrCat("pid ", getpid())));
  EXPECT_THAT(Message(second.status()), HasSubstr("--data-dir"));
}

TEST(DataDirTest, OpensOnAFullDisk) {
  TemporaryDir dir;
  ASSERT_EQ(DataDir::Open(dir.path()).value()->MakeIdentity(), absl::OkStatus());
  const FullDisk full(0);
  EXPECT_EQ(DataDir::Open(dir.path()).value()->MakeIdentity(), absl::OkStatus());
}

TEST(DataDirTest, DamagedNodeIdIsRefused) {
  TemporaryDir dir;
  WriteText(dir.File("node_id"), "somebody\n");
  const auto opened = DataDir::Open(dir.path());
  EXPECT_TRUE(absl::IsDataLoss(opened.status()));
  EXPECT_THAT(Message(opened.status()), HasSubstr("node_id"));
}

TEST(DataDirTest, FileInTheWayIsNamed) {
  TemporaryDir dir;
  WriteText(dir.File("file"), "x");
  for (const std::string& path : {dir.File("file"), dir.File("file/below")}) {
    const auto opened = DataDir::Open(path);
    EXPECT_FALSE(opened.ok());
    EXPECT_THAT(Message(opened.status()), HasSubstr(dir.File("file")));
  }
  EXPECT_TRUE(absl::IsInvalidArgument(DataDir::Open("").status()));
}

TEST(DataDirTest, RandomIdsDiffer) { EXPECT_NE(RandomId(), RandomId()); }

}  // namespace
}  // namespace trainyard::worker
