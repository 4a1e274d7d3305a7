#include "worker/spool/attempt_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

namespace fs = std::filesystem;
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
  return command;
}

AttemptFolders::Found MustScan(const AttemptFolders& folders) {
  auto found = folders.Scan();
  EXPECT_TRUE(found.ok()) << found.status();
  return *std::move(found);
}

TEST(AttemptFoldersTest, FindsWhatWasCreated) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.File("attempts"));
  EXPECT_THAT(MustScan(folders).attempts, IsEmpty());
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  ASSERT_TRUE(folders.Create(Command(3, 4)).ok());
  EXPECT_EQ(folders.RankDir({{3, 2}, 1}), dir.File("attempts/3/2/rank1"));
  EXPECT_TRUE(fs::is_directory(dir.File("attempts/3/2/rank1")));
  const auto found = MustScan(folders);
  EXPECT_THAT(found.warnings, IsEmpty());
  ASSERT_THAT(found.attempts, SizeIs(2));
  EXPECT_THAT(found.attempts[0].ranks(), SizeIs(2));
}

TEST(AttemptFoldersTest, RemovesAnAttemptAndTheEmptyFolderOfItsJob) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.File("attempts"));
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
  const AttemptFolders folders(dir.File("attempts"));
  std::vector<std::pair<int64_t, int64_t>> expected;
  for (int64_t job = 30; job > 0; --job) {
    for (int64_t attempt_number = 12; attempt_number > 8; --attempt_number) {
      ASSERT_TRUE(folders.Create(Command(job, attempt_number)).ok());
      expected.emplace_back(job, attempt_number);
    }
  }
  std::reverse(expected.begin(), expected.end());
  std::vector<std::pair<int64_t, int64_t>> found;
  for (const v1::StartAttempt& attempt : MustScan(folders).attempts) {
    found.emplace_back(attempt.job_id(), attempt.attempt());
  }
  EXPECT_EQ(found, expected);
}

TEST(AttemptFoldersTest, HalfMadeFolderIsRemoved) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.File("attempts"));
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  fs::remove(dir.File("attempts/3/2/start.pb"));
  EXPECT_THAT(MustScan(folders).attempts, IsEmpty());
  EXPECT_FALSE(fs::exists(dir.File("attempts/3/2")));
}

TEST(AttemptFoldersTest, UnreadableAttemptIsLeftAndNamed) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.File("attempts"));
  ASSERT_TRUE(folders.Create(Command(3, 2)).ok());
  WriteText(dir.File("attempts/3/2/start.pb"), "\xff\xff\xff");
  ASSERT_TRUE(folders.Create(Command(5, 1)).ok());
  fs::rename(dir.File("attempts/5/1"), dir.File("attempts/5/9"));
  const auto found = MustScan(folders);
  EXPECT_THAT(found.attempts, IsEmpty());
  ASSERT_THAT(found.warnings, SizeIs(2));
  EXPECT_THAT(found.warnings[0] + found.warnings[1], HasSubstr(dir.File("attempts/3/2/start.pb")));
  EXPECT_TRUE(fs::exists(dir.File("attempts/3/2/start.pb")));
}

TEST(AttemptFoldersTest, StrangeNamesArePassedOver) {
  TemporaryDir dir;
  const AttemptFolders folders(dir.File("attempts"));
  fs::create_directories(dir.File("attempts/lost+found"));
  fs::create_directories(dir.File("attempts/3/x"));
  fs::create_directories(dir.File("attempts/-1/1"));
  const auto found = MustScan(folders);
  EXPECT_THAT(found.attempts, IsEmpty());
  EXPECT_TRUE(fs::exists(dir.File("attempts/3/x")));
}

}  // namespace
}  // namespace trainyard::worker
