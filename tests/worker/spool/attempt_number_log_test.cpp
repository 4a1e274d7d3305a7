#include "worker/spool/attempt_number_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/worker/spool/temporary_dir.h"
#include "worker/spool/record_log.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<AttemptKey> SeenIn(const std::string& path) {
  return AttemptNumberLog::Open(path).value()->seen().OldestFirst();
}

TEST(AttemptNumberLogTest, RemembersTheHighestAttemptOfEachJob) {
  TemporaryDir dir;
  {
    auto log = AttemptNumberLog::Open(dir.File("attempts"));
    ASSERT_TRUE(log.ok());
    ASSERT_TRUE((*log)->Remember(1, 2).ok());
    ASSERT_TRUE((*log)->Remember(7, 1).ok());
    ASSERT_TRUE((*log)->Remember(1, 5).ok());
    ASSERT_TRUE((*log)->Remember(1, 3).ok());
  }
  for (int i = 0; i < 2; ++i) {
    auto log = AttemptNumberLog::Open(dir.File("attempts"));
    ASSERT_TRUE(log.ok());
    EXPECT_THAT((*log)->seen().OldestFirst(), ElementsAre(AttemptKey{7, 1}, AttemptKey{1, 5}));
  }
}

TEST(AttemptNumberLogTest, ADamagedFileKeepsTheNumbersThatAreWhole) {
  TemporaryDir dir;
  {
    auto log = AttemptNumberLog::Open(dir.File("attempts")).value();
    for (int64_t job = 1; job <= 3; ++job) ASSERT_TRUE(log->Remember(job, 4).ok());
  }
  std::string text = ReadText(dir.File("attempts"));
  text[text.size() / 2] ^= 1;
  WriteText(dir.File("attempts"), text);
  auto log = AttemptNumberLog::Open(dir.File("attempts"));
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_THAT((*log)->seen().OldestFirst(), ElementsAre(AttemptKey{1, 4}, AttemptKey{3, 4}));
  EXPECT_THAT((*log)->damage(), HasSubstr(dir.File("attempts.damaged")));
}

TEST(AttemptNumberLogTest, KeepsTheJobsThatWereSeenLast) {
  TemporaryDir dir;
  auto log = AttemptNumberLog::Open(dir.File("attempts"), 2).value();
  for (int64_t job = 1; job <= 100; ++job) ASSERT_TRUE(log->Remember(job, 1).ok());
  ASSERT_TRUE(log->Remember(99, 2).ok());
  EXPECT_THAT(log->seen().OldestFirst(), ElementsAre(AttemptKey{100, 1}, AttemptKey{99, 2}));
  log.reset();
  EXPECT_LE(RecordLog::Open(dir.File("attempts")).value()->records_at_open().size(), 4u);
  EXPECT_THAT(SeenIn(dir.File("attempts")), ElementsAre(AttemptKey{100, 1}, AttemptKey{99, 2}));
}

TEST(AttemptNumberLogTest, OpensWithoutSpaceToCompact) {
  TemporaryDir dir;
  {
    auto log = AttemptNumberLog::Open(dir.File("attempts"));
    ASSERT_TRUE(log.ok());
    ASSERT_TRUE((*log)->Remember(1, 2).ok());
    ASSERT_TRUE((*log)->Remember(1, 5).ok());
  }
  std::filesystem::create_directory(dir.File("attempts.tmp"));
  auto log = AttemptNumberLog::Open(dir.File("attempts"));
  ASSERT_TRUE(log.ok()) << log.status();
  ASSERT_TRUE((*log)->Remember(1, 6).ok());
  EXPECT_THAT(SeenIn(dir.File("attempts")), ElementsAre(AttemptKey{1, 6}));
}

TEST(AttemptNumberLogTest, TakesOverTheLogOfAnEarlierVersion) {
  TemporaryDir dir;
  ASSERT_TRUE((*AttemptNumberLog::Open(dir.File("former")))->Remember(1, 5).ok());
  ASSERT_TRUE((*AttemptNumberLog::Open(dir.File("attempts")))->Remember(1, 6).ok());
  ASSERT_TRUE((*AttemptNumberLog::Open(dir.File("former")))->Remember(2, 3).ok());
  std::filesystem::create_directory(dir.File("attempts.tmp"));
  for (const bool has_space : {false, true}) {
    if (has_space) std::filesystem::remove(dir.File("attempts.tmp"));
    auto log = AttemptNumberLog::Open(dir.File("attempts"));
    ASSERT_TRUE(log.ok());
    ASSERT_TRUE((*log)->TakeOver(dir.File("former")).ok());
    EXPECT_THAT((*log)->seen().OldestFirst(), ElementsAre(AttemptKey{1, 6}, AttemptKey{2, 3}));
    EXPECT_EQ(std::filesystem::exists(dir.File("former")), !has_space);
  }
  EXPECT_THAT(SeenIn(dir.File("attempts")), ElementsAre(AttemptKey{1, 6}, AttemptKey{2, 3}));
}

TEST(AttemptNumberLogTest, FileOfAnotherKindIsRefused) {
  TemporaryDir dir;
  {
    auto records = RecordLog::Open(dir.File("attempts"));
    ASSERT_TRUE(records.ok());
    ASSERT_TRUE((*records)->Append("1 2 3").ok());
  }
  EXPECT_TRUE(absl::IsDataLoss(AttemptNumberLog::Open(dir.File("attempts")).status()));
}

}  // namespace
}  // namespace trainyard::worker
