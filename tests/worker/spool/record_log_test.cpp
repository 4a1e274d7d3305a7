#include "worker/spool/record_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/fakes/full_disk.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kRecords = {"first", "", std::string(40, 'x'), "last\n\0\xff"};

std::unique_ptr<RecordLog> OpenRecords(const std::string& path) {
  auto log = RecordLog::Open(path);
  EXPECT_TRUE(log.ok()) << log.status();
  return *std::move(log);
}

// Writes kRecords. Returns the size of the file after each record.
std::vector<int64_t> WriteRecords(const std::string& path) {
  auto log = OpenRecords(path);
  std::vector<int64_t> ends;
  for (const std::string& record : kRecords) {
    EXPECT_TRUE(log->Append(record).ok());
    ends.push_back(log->size_bytes());
  }
  return ends;
}

TEST(RecordLogTest, ReadsBackWhatWasAppended) {
  TemporaryDir dir;
  WriteRecords(dir.File("log"));
  auto log = OpenRecords(dir.File("log"));
  EXPECT_EQ(log->records_at_open(), kRecords);
  EXPECT_EQ(log->dropped_bytes(), 0);
}

TEST(RecordLogTest, FileIsForItsOwnerOnly) {
  TemporaryDir dir;
  OpenRecords(dir.File("log"));
  struct stat info {};
  ASSERT_EQ(stat(dir.File("log").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

// With space allocated in advance, the worker of a node with a full disk can still report failed
// operations.
TEST(RecordLogTest, SpaceForRecordsToComeIsAllocatedAhead) {
  TemporaryDir dir;
  auto log = OpenRecords(dir.File("log"));
  const auto allocated = [&] {
    struct stat info {};
    EXPECT_EQ(stat(dir.File("log").c_str(), &info), 0);
    return info.st_blocks * 512 - log->size_bytes();
  };
  EXPECT_GE(allocated(), 64 << 10);
  ASSERT_TRUE(log->Append(std::string(100 << 10, 'x')).ok());
  EXPECT_GE(allocated(), 64 << 10);
  ASSERT_TRUE(log->Rewrite({"one"}).ok());
  EXPECT_GE(allocated(), 64 << 10);
}

TEST(RecordLogTest, TailTornAtAnyByteIsCutAndTheLogGoesOn) {
  TemporaryDir dir;
  const std::vector<int64_t> ends = WriteRecords(dir.File("whole"));
  const std::string whole = ReadText(dir.File("whole"));
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    SCOPED_TRACE(size);
    WriteText(dir.File("torn"), whole.substr(0, size));
    const std::size_t complete =
        std::upper_bound(ends.begin(), ends.end(), static_cast<int64_t>(size)) - ends.begin();
    std::vector<std::string> expected(kRecords.begin(), kRecords.begin() + complete);
    {
      auto log = OpenRecords(dir.File("torn"));
      ASSERT_EQ(log->records_at_open(), expected);
      const int64_t kept = complete == 0 ? 0 : ends[complete - 1];
      ASSERT_EQ(log->dropped_bytes(), static_cast<int64_t>(size) - kept);
      ASSERT_TRUE(log->Append("after").ok());
    }
    expected.push_back("after");
    ASSERT_EQ(OpenRecords(dir.File("torn"))->records_at_open(), expected);
  }
}

TEST(RecordLogTest, AFlippedByteCostsItsRecordAndTheDamagedFileStaysBeside) {
  TemporaryDir dir;
  const std::vector<int64_t> ends = WriteRecords(dir.File("whole"));
  const std::string whole = ReadText(dir.File("whole"));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    SCOPED_TRACE(at);
    std::string damaged = whole;
    damaged[at] ^= 0x20;
    WriteText(dir.File("log"), damaged);
    std::filesystem::remove(dir.File("log.damaged"));
    const std::size_t hit =
        std::upper_bound(ends.begin(), ends.end(), static_cast<int64_t>(at)) - ends.begin();
    std::vector<std::string> expected = kRecords;
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(hit));
    {
      auto log = OpenRecords(dir.File("log"));
      ASSERT_EQ(log->records_at_open(), expected);
      // A bad last record counts as torn, as after
      // a crash during the append, not as damage.
      const bool is_torn = hit + 1 == kRecords.size();
      ASSERT_EQ(log->damage().empty(), is_torn);
      if (!is_torn) {
        ASSERT_THAT(log->damage(), testing::HasSubstr(dir.File("log.damaged")));
        ASSERT_EQ(ReadText(dir.File("log.damaged")), damaged);
      }
      ASSERT_TRUE(log->Append("after").ok());
    }
    expected.push_back("after");
    auto again = OpenRecords(dir.File("log"));
    ASSERT_EQ(again->records_at_open(), expected);
    ASSERT_EQ(again->damage(), "");
  }
}

TEST(RecordLogTest, ASecondDamageDoesNotReplaceWhatTheFirstLeft) {
  TemporaryDir dir;
  for (const char* name : {"log.damaged", "log.damaged.2"}) {
    WriteRecords(dir.File("log"));
    std::string text = ReadText(dir.File("log"));
    text[0] ^= 1;
    WriteText(dir.File("log"), text);
    EXPECT_THAT(OpenRecords(dir.File("log"))->damage(), testing::HasSubstr(dir.File(name) + ","));
    EXPECT_EQ(ReadText(dir.File(name)), text);
    std::filesystem::remove(dir.File("log"));
  }
}

TEST(RecordLogTest, WhatIsNotAFileIsSetAside) {
  TemporaryDir dir;
  ASSERT_EQ(mkfifo(dir.File("fifo").c_str(), 0600), 0);
  std::filesystem::create_directory(dir.File("folder"));
  WriteRecords(dir.File("elsewhere"));
  std::filesystem::create_symlink(dir.File("elsewhere"), dir.File("link"));
  for (const char* name : {"fifo", "folder", "link"}) {
    SCOPED_TRACE(name);
    auto log = OpenRecords(dir.File(name));
    EXPECT_THAT(log->records_at_open(), IsEmpty());
    EXPECT_THAT(log->damage(), testing::HasSubstr("not a regular file"));
    ASSERT_TRUE(log->Append("after").ok());
    EXPECT_THAT(OpenRecords(dir.File(name))->records_at_open(), ElementsAre("after"));
  }
}

TEST(RecordLogTest, TailOfZerosIsCut) {
  // After a crash, a file system may leave zeros in place of appended data that never reached the
  // disk.
  TemporaryDir dir;
  WriteRecords(dir.File("log"));
  WriteText(dir.File("log"), ReadText(dir.File("log")) + std::string(4096, '\0'));
  auto log = OpenRecords(dir.File("log"));
  EXPECT_EQ(log->records_at_open(), kRecords);
  EXPECT_EQ(log->dropped_bytes(), 4096);
}

TEST(RecordLogTest, RewriteReplacesEverythingAndAppendsGoOn) {
  TemporaryDir dir;
  auto log = OpenRecords(dir.File("log"));
  ASSERT_TRUE(log->Append("old").ok());
  ASSERT_TRUE(log->Rewrite({"a", "b"}).ok());
  ASSERT_TRUE(log->Append("c").ok());
  EXPECT_THAT(OpenRecords(dir.File("log"))->records_at_open(), ElementsAre("a", "b", "c"));
}

TEST(RecordLogTest, ARewriteThatFailsLeavesTheLogAsItWas) {
  TemporaryDir dir;
  auto log = OpenRecords(dir.File("log"));
  ASSERT_TRUE(log->Append("old").ok());
  // A directory with the new file's name prevents the creation of the file.
  std::filesystem::create_directory(dir.File("log.tmp"));
  EXPECT_FALSE(log->Rewrite({"a", "b"}).ok());
  ASSERT_TRUE(log->Append("after").ok());
  EXPECT_THAT(OpenRecords(dir.File("log"))->records_at_open(), ElementsAre("old", "after"));
  std::filesystem::remove(dir.File("log.tmp"));
  ASSERT_TRUE(log->Rewrite({"new"}).ok());
  ASSERT_TRUE(log->Append("last").ok());
  EXPECT_THAT(OpenRecords(dir.File("log"))->records_at_open(), ElementsAre("new", "last"));
}

TEST(RecordLogTest, TooLongARecordIsRefused) {
  TemporaryDir dir;
  auto log = OpenRecords(dir.File("log"));
  EXPECT_TRUE(absl::IsInvalidArgument(log->Append(std::string(kMaxRecordBytes + 1, 'x'))));
  EXPECT_THAT(OpenRecords(dir.File("log"))->records_at_open(), IsEmpty());
}

TEST(RecordLogTest, ErrorNamesThePath) {
  const auto log = RecordLog::Open("/nowhere/log");
  EXPECT_TRUE(absl::IsNotFound(log.status())) << log.status();
  EXPECT_THAT(std::string(log.status().message()), testing::HasSubstr("/nowhere/log"));
}

TEST(RecordLogTest, FullDiskLeavesTheLogAsItWas) {
  TemporaryDir dir;
  auto log = OpenRecords(dir.File("log"));
  ASSERT_TRUE(log->Append("before").ok());
  const std::string before = ReadText(dir.File("log"));
  {
    const FullDisk full(before.size() + 5);
    EXPECT_FALSE(log->Append("much too long").ok());
  }
  EXPECT_EQ(ReadText(dir.File("log")), before);
  ASSERT_TRUE(log->Append("after").ok());
  EXPECT_THAT(OpenRecords(dir.File("log"))->records_at_open(), ElementsAre("before", "after"));
}

}  // namespace
}  // namespace trainyard::worker
