#include "worker/spool/attempt_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/fakes/hung_file_system.h"
#include "tests/worker/spool/temporary_dir.h"
#include "worker/core/processes.h"

namespace trainyard::worker {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

v1::StartAttempt Command(int64_t job, int64_t attempt_number) {
  v1::StartAttempt command;
  command.set_job_id(job);
  command.set_attempt(attempt_number);
  command.set_world_size(2);
  command.add_ranks()->set_rank(0);
  command.add_ranks()->set_rank(1);
  return WithProcesses(std::move(command));
}

AttemptFolders::Found MustScan(const AttemptFolders& folders) {
  auto found = folders.Scan();
  EXPECT_TRUE(found.ok()) << found.status();
  return *std::move(found);
}

TEST(AttemptFoldersTest, FindsWhatWasCreated) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  EXPECT_THAT(MustScan(folders).attempts, IsEmpty());
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  ASSERT_TRUE(folders.Create(Command(3, 4)).ok());
  EXPECT_EQ(folders.RankDir({{3, 2}, 1}), dir.File("attempts/3/2/rank1"));
  EXPECT_TRUE(fs::is_directory(dir.File("attempts/3/2/rank1")));
  const auto found = MustScan(folders);
  EXPECT_THAT(found.warnings, IsEmpty());
  ASSERT_THAT(found.attempts, SizeIs(2));
  EXPECT_THAT(RanksOf(found.attempts[0]), ElementsAre(0, 1));
}

TEST(AttemptFoldersTest, ACommandOfAnEarlierReleaseGetsItsProcesses) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  v1::StartAttempt former = Command(3, 2);
  ASSERT_TRUE(folders.Create(former).ok());
  former.clear_processes();
  WriteText(dir.File("attempts/3/2/start.pb"), former.SerializeAsString());
  const auto found = MustScan(folders);
  EXPECT_THAT(found.warnings, IsEmpty());
  ASSERT_THAT(found.attempts, SizeIs(1));
  EXPECT_THAT(RanksOf(found.attempts[0]), ElementsAre(0, 1));
}

TEST(AttemptFoldersTest, AnOrderReplacesWhatIsInItsPlace) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  const RankKey rank{{3, 2}, 1};
  const std::string path = absl::StrCat(folders.RunDir(rank), "/", kHealFile);
  // A rank's program may create a link at the order's path. The worker must not follow the link.
  WriteText(dir.File("elsewhere"), "text");
  fs::create_symlink(dir.File("elsewhere"), path);
  ASSERT_TRUE(folders.WriteOrder(rank, "first").ok());
  ASSERT_TRUE(folders.WriteOrder(rank, "second").ok());
  EXPECT_EQ(ReadText(path), "second");
  EXPECT_FALSE(fs::is_symlink(path));
  EXPECT_EQ(ReadText(dir.File("elsewhere")), "text");
  EXPECT_FALSE(folders.WriteOrder({{3, 9}, 0}, "no folder").ok());
}

TEST(AttemptFoldersTest, RemovesAnAttemptAndTheEmptyFolderOfItsJob) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  ASSERT_TRUE(folders.Create(Command(3, 4)).ok());
  WriteText(dir.File("attempts/3/2/rank0/output.log"), "text");
  ASSERT_TRUE(folders.Remove({3, 2}).ok());
  EXPECT_FALSE(fs::exists(dir.File("attempts/3/2")));
  EXPECT_TRUE(fs::exists(dir.File("attempts/3/4")));
  ASSERT_TRUE(folders.Remove({3, 4}).ok());
  EXPECT_FALSE(fs::exists(dir.File("attempts/3")));
  EXPECT_TRUE(folders.Remove({3, 4}).ok());
}

TEST(AttemptFoldersTest, FindsTheOldestFirst) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  std::vector<AttemptKey> expected;
  for (int64_t job = 30; job > 0; --job) {
    for (int64_t attempt_number = 12; attempt_number > 8; --attempt_number) {
      ASSERT_TRUE(folders.Create(Command(job, attempt_number)).ok());
      expected.push_back({job, attempt_number});
    }
  }
  std::reverse(expected.begin(), expected.end());
  std::vector<AttemptKey> found;
  for (const v1::StartAttempt& attempt : MustScan(folders).attempts) {
    found.push_back({attempt.job_id(), attempt.attempt()});
  }
  EXPECT_EQ(found, expected);
}

TEST(AttemptFoldersTest, HalfMadeFolderIsRemoved) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  fs::remove(dir.File("attempts/3/2/start.pb"));
  EXPECT_THAT(MustScan(folders).attempts, IsEmpty());
  EXPECT_FALSE(fs::exists(dir.File("attempts/3/2")));
}

// Returns folders of attempts 3/2 and 5/9. Each start.pb is damaged or belongs to another attempt.
AttemptFolders DamagedFolders(const TemporaryDir& dir) {
  AttemptFolders folders(dir.path());
  EXPECT_TRUE(folders.Create(Command(3, 2)).ok());
  WriteText(dir.File("attempts/3/2/start.pb"), "\xff\xff\xff");
  EXPECT_TRUE(folders.Create(Command(5, 1)).ok());
  fs::rename(dir.File("attempts/5/1"), dir.File("attempts/5/9"));
  return folders;
}

TEST(AttemptFoldersTest, DamagedAttemptWithARecordOfARankIsLostAndStays) {
  TemporaryDir dir;
  const AttemptFolders folders = DamagedFolders(dir);
  WriteText(dir.File("attempts/3/2/rank1/shim.json"), "{}");
  WriteText(dir.File("attempts/5/9/rank0/lock"), "");
  const auto found = MustScan(folders);
  EXPECT_THAT(found.attempts, IsEmpty());
  ASSERT_THAT(found.warnings, SizeIs(2));
  EXPECT_THAT(found.warnings[0], HasSubstr(dir.File("attempts/3/2/start.pb")));
  ASSERT_THAT(found.lost, SizeIs(2));
  EXPECT_EQ(found.lost[0].ShortDebugString(),
            "job_id: 3 attempt: 2 processes { ranks { rank: 1 } }");
  EXPECT_EQ(found.lost[1].ShortDebugString(), "job_id: 5 attempt: 9 processes { ranks { } }");
  EXPECT_TRUE(fs::exists(dir.File("attempts/3/2/rank1/shim.json")));
}

TEST(AttemptFoldersTest, FolderOfARunningRankStaysWhateverIsLost) {
  TemporaryDir dir;
  const AttemptFolders folders = DamagedFolders(dir);
  const auto found = folders.Scan({{{3, 2}, 1}, {{8, 1}, 4}});
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_THAT(found->lost, SizeIs(2));
  EXPECT_EQ(found->lost[0].ShortDebugString(),
            "job_id: 3 attempt: 2 processes { ranks { rank: 1 } }");
  EXPECT_EQ(found->lost[1].ShortDebugString(),
            "job_id: 8 attempt: 1 processes { ranks { rank: 4 } }");
  EXPECT_TRUE(fs::exists(dir.File("attempts/3/2/rank0")));
  EXPECT_TRUE(fs::exists(dir.File("runs/3/2/rank0")));
  EXPECT_FALSE(fs::exists(dir.File("attempts/5/9"))) << "no rank of it was ever started";
}

TEST(AttemptFoldersTest, RanksWorkWhereNoRecordIs) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  EXPECT_EQ(folders.RunDir({{3, 2}, 1}), dir.File("runs/3/2/rank1"));
  EXPECT_TRUE(fs::is_directory(dir.File("runs/3/2/rank1")));
  fs::remove_all(dir.File("runs/3/2/rank1"));
  EXPECT_THAT(MustScan(folders).attempts, SizeIs(1));
}

TEST(AttemptFoldersTest, AttemptOfAnEarlierVersionHasBothInOneDirectory) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  WriteText(dir.File("attempts/3/2/rank1/telemetry.jsonl"), "");
  EXPECT_EQ(folders.RunDir({{3, 2}, 1}), dir.File("attempts/3/2/rank1"));
}

TEST(AttemptFoldersTest, WhatAProgramMadeReadOnlyIsRemovedToo) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  fs::create_directories(dir.File("runs/3/2/rank0/cache/deep"));
  WriteText(dir.File("runs/3/2/rank0/cache/deep/file"), "text");
  for (const char* name : {"cache/deep", "cache"}) {
    fs::permissions(dir.File(absl::StrCat("runs/3/2/rank0/", name)), fs::perms::none);
  }
  ASSERT_TRUE(folders.Remove({3, 2}).ok());
  EXPECT_FALSE(fs::exists(dir.File("runs/3")));
  EXPECT_TRUE(folders.RemoveMovedRuns({3, 2}).ok());
  EXPECT_TRUE(fs::is_empty(dir.File("runs")));
}

TEST(AttemptFoldersTest, RemovalThatACrashInterruptedIsNoLostAttempt) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  WriteText(dir.File("attempts/3/2/rank0/exit.json"), "{}");
  fs::rename(dir.File("attempts/3/2"), dir.File("attempts/removed-3-2"));
  const auto found = MustScan(folders);
  EXPECT_THAT(found.lost, IsEmpty());
  EXPECT_FALSE(fs::exists(dir.File("attempts/removed-3-2")));
  EXPECT_FALSE(fs::exists(dir.File("runs/3"))) << "moved away";
  ASSERT_TRUE(folders.RemoveAllMovedRuns().ok());
  EXPECT_TRUE(fs::is_empty(dir.File("runs")));
}

TEST(AttemptFoldersTest, StrangeNamesArePassedOver) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  fs::create_directories(dir.File("attempts/lost+found"));
  fs::create_directories(dir.File("attempts/3/x"));
  fs::create_directories(dir.File("attempts/-1/1"));
  const auto found = MustScan(folders);
  EXPECT_THAT(found.attempts, IsEmpty());
  EXPECT_TRUE(fs::exists(dir.File("attempts/3/x")));
}

// Attempt 1's program can create files at "../../2", the folder of the newer attempt. Such files
// must be moved aside.
TEST(AttemptFoldersTest, WhatAnOlderAttemptPutInTheWayOfANewerOneIsMovedAside) {
  TemporaryDir dir, elsewhere;
  const AttemptFolders folders(dir.path());
  MustScan(folders);
  ASSERT_TRUE(folders.Create(Command(3, 1)).ok());
  WriteText(dir.File("runs/3/2"), "in the way");
  fs::create_symlink(elsewhere.path(), dir.File("runs/3/3"));
  fs::create_directories(dir.File("runs/3/4/rank0/spec.json"));
  for (const int64_t number : {2, 3, 4}) {
    ASSERT_EQ(folders.Create(Command(3, number)), absl::OkStatus()) << number;
    const std::string run_dir = folders.RunDir({{3, number}, 0});
    EXPECT_TRUE(fs::is_directory(run_dir)) << run_dir;
    EXPECT_TRUE(fs::is_empty(run_dir)) << run_dir;
    EXPECT_FALSE(fs::is_symlink(dir.File(absl::StrCat("runs/3/", number))));
  }
  EXPECT_TRUE(fs::is_empty(elsewhere.path()));
  ASSERT_TRUE(folders.Remove({3, 2}).ok());
  ASSERT_TRUE(folders.RemoveMovedRuns({3, 2}).ok());
  int removed = 0;
  for (const auto& entry : fs::directory_iterator(dir.File("runs"))) {
    const std::string name = entry.path().filename().string();
    removed += name.starts_with("removed-");
    EXPECT_FALSE(name.starts_with("removed-3-2")) << name;
  }
  EXPECT_EQ(removed, 2) << "the obstacles of the other two";
  EXPECT_TRUE(folders.RemoveAllMovedRuns().ok());
}

TEST(AttemptFoldersTest, ALinkInThePlaceOfAJobIsNotFollowed) {
  TemporaryDir dir, elsewhere;
  const AttemptFolders folders(dir.path());
  MustScan(folders);
  fs::create_directories(elsewhere.File("1/rank0"));
  fs::create_symlink(elsewhere.path(), dir.File("runs/3"));
  EXPECT_THAT(MustScan(folders).attempts, IsEmpty());
  EXPECT_TRUE(fs::exists(elsewhere.File("1"))) << "moved as if it were ours";
  ASSERT_EQ(folders.Create(Command(3, 1)), absl::OkStatus());
  EXPECT_FALSE(fs::is_symlink(dir.File("runs/3")));
  EXPECT_TRUE(fs::is_directory(dir.File("runs/3/1/rank0")));
}

TEST(AttemptFoldersTest, AFileSystemThatHangsIsNotEntered) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.path());
  MustScan(folders);
  fs::create_directories(dir.File("runs/3/1"));
  const HungFileSystem hung(dir.File("runs/3/1"));
  if (!hung.mounted()) GTEST_SKIP() << HungFileSystem::kSkipped;
  ASSERT_EQ(folders.Create(Command(3, 1)), absl::OkStatus()) << "root unmounts it";
  EXPECT_TRUE(fs::is_directory(dir.File("runs/3/1/rank0")));
}

}  // namespace
}  // namespace trainyard::worker
