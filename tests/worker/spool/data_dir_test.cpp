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

// Opens the data directory and creates the identity. Returns the node's id and secret.
std::pair<std::string, std::string> IdentityIn(const std::string& path) {
  auto opened = DataDir::Open(path).value();
  EXPECT_EQ(opened->MakeIdentity(), absl::OkStatus());
  return {opened->node_id(), opened->node_secret()};
}

// Writes a worker's data and damages its identity with `spoil`. The worker must become a new node,
// without the attempts and facts of the old node.
template <typename Spoil>
void ExpectNewNodeAfter(Spoil spoil) {
  TemporaryDir dir;
  const auto before = IdentityIn(dir.path());
  WriteText(dir.File("facts.bin"), "facts");
  WriteText(dir.File("attempt_numbers.bin"), "numbers");
  ASSERT_EQ(MakeDirectories(dir.File("attempts/1/1/rank0")), absl::OkStatus());
  spoil(dir);
  auto opened = DataDir::Open(dir.path()).value();
  // Processes of the old node no longer belong to any node, so they must be killed.
  EXPECT_EQ(opened->node_id(), "");
  ASSERT_EQ(opened->MakeIdentity(), absl::OkStatus());
  EXPECT_NE(opened->node_id(), before.first);
  EXPECT_NE(opened->node_secret(), before.second);
  EXPECT_THAT(opened->lost_identity(), HasSubstr(dir.File("former")));
  EXPECT_EQ(ReadText(dir.File("former/facts.bin")), "facts");
  EXPECT_EQ(access(dir.File("former/attempts/1/1/rank0").c_str(), F_OK), 0);
  EXPECT_NE(access(dir.File("attempts").c_str(), F_OK), 0);
  EXPECT_EQ(ReadText(dir.File("attempt_numbers.bin")), "numbers") << "a number is never used again";
  const auto after = std::make_pair(opened->node_id(), opened->node_secret());
  opened.reset();
  EXPECT_EQ(IdentityIn(dir.path()), after);
  EXPECT_EQ(RemoveFormerNodes(dir.path()), 1);
  EXPECT_NE(access(dir.File("former").c_str(), F_OK), 0);
  EXPECT_EQ(IdentityIn(dir.path()), after);
}

TEST(DataDirTest, ANodeThatHasLostItsSecretBecomesANewOne) {
  ExpectNewNodeAfter([](TemporaryDir& dir) { remove(dir.File("node_secret").c_str()); });
}

TEST(DataDirTest, ANodeWithADamagedSecretBecomesANewOne) {
  ExpectNewNodeAfter([](TemporaryDir& dir) { WriteText(dir.File("node_secret"), "somebody\n"); });
  ExpectNewNodeAfter([](TemporaryDir& dir) {
    remove(dir.File("node_secret").c_str());
    EXPECT_EQ(mkfifo(dir.File("node_secret").c_str(), 0600), 0);
  });
}

TEST(DataDirTest, ANodeWithADamagedIdBecomesANewOne) {
  ExpectNewNodeAfter([](TemporaryDir& dir) { WriteText(dir.File("node_id"), "somebody\n"); });
}

// An earlier version without secrets created the directory. The node must keep its id. The id is
// bound to the newly created secret.
TEST(DataDirTest, AnIdThatNeverHadASecretStays) {
  TemporaryDir dir;
  const std::string id(32, 'a');
  WriteText(dir.File("node_id"), id + "\n");
  const auto first = IdentityIn(dir.path());
  EXPECT_EQ(first.first, id);
  EXPECT_EQ(IdentityIn(dir.path()), first);
}

// The umask determines the group's access. The worker's unit file sets it to 0007.
TEST(DataDirTest, DirectoriesOfCheckpointsAreForTheGroupAndNeverForOthers) {
  TemporaryDir dir;
  const mode_t before = umask(0007);
  EXPECT_EQ(MakeGroupDirectories(dir.File("shared/job")), absl::OkStatus());
  umask(0);
  EXPECT_EQ(MakeGroupDirectories(dir.File("open")), absl::OkStatus());
  umask(0077);
  EXPECT_EQ(MakeGroupDirectories(dir.File("own")), absl::OkStatus());
  umask(before);
  EXPECT_EQ(ModeOf(dir.File("shared")), 0770u);
  EXPECT_EQ(ModeOf(dir.File("shared/job")), 0770u);
  EXPECT_EQ(ModeOf(dir.File("open")), 0770u);
  EXPECT_EQ(ModeOf(dir.File("own")), 0700u);
}

TEST(DataDirTest, ALinkInThePlaceOfACheckpointDirectoryIsNamed) {
  TemporaryDir dir;
  ASSERT_EQ(symlink(dir.File("none").c_str(), dir.File("link").c_str()), 0);
  ASSERT_EQ(symlink("/proc/self", dir.File("kernel").c_str()), 0);
  EXPECT_THAT(
      Message(MakeGroupDirectories(dir.File("link/job"))),
      HasSubstr(absl::StrCat(dir.File("link"), " is a symbolic link to ", dir.File("none"))));
  EXPECT_THAT(Message(MakeGroupDirectories(dir.File("kernel/job"))),
              HasSubstr("is a symbolic link to /proc/self"));
  EXPECT_THAT(Message(MakeGroupDirectories("/proc/self/root/tmp")),
              HasSubstr("use a directory on a disk"));
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
