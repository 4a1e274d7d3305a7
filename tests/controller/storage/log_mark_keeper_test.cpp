#include "controller/storage/log_mark_keeper.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

constexpr char kCluster[] = "0123456789abcdef0123456789abcdef";

v1::LogMark MarkAt(uint64_t sequence) {
  v1::LogMark mark;
  mark.set_term(18'446'744'073'709'551'615U);
  mark.set_sequence(sequence);
  mark.set_job_id(static_cast<int64_t>(sequence) * 2);
  return mark;
}

class LogMarkKeeperTest : public testing::Test {
 protected:
  std::string path() const { return LogMarkFileIn(directory_.path()); }

  TemporaryDirectory directory_;
};

TEST_F(LogMarkKeeperTest, TheNewestMarkIsKept) {
  EXPECT_EQ(ReadLogMarkFile(path(), kCluster).sequence(), 0U) << "there is no file";
  LogMarkKeeper keeper(path(), kCluster, std::chrono::hours(1));
  keeper.Start();
  for (const uint64_t sequence : {1, 2, 3}) keeper.Note(MarkAt(sequence));
  keeper.Stop();
  const v1::LogMark kept = ReadLogMarkFile(path(), kCluster);
  EXPECT_EQ(kept.SerializeAsString(), MarkAt(3).SerializeAsString());
  EXPECT_EQ(ReadLogMarkFile(path(), "another").sequence(), 0U);
}

TEST_F(LogMarkKeeperTest, ADamagedFileHasNoMark) {
  for (const char* text :
       {"", "x", "0123456789abcdef0123456789abcdef 1 2", "0123456789abcdef0123456789abcdef 1 x 3",
        "0123456789abcdef0123456789abcdef 1 2 -3"}) {
    std::ofstream(path()) << text;
    EXPECT_EQ(ReadLogMarkFile(path(), kCluster).sequence(), 0U) << text;
  }
}

TEST_F(LogMarkKeeperTest, WithoutAPathNothingIsWritten) {
  LogMarkKeeper keeper("", kCluster);
  keeper.Start();
  keeper.Note(MarkAt(1));
  keeper.Stop();
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(LogMarkKeeperTest, AFailedWriteIsRepeatedWithTheNextMark) {
  const std::string missing = directory_.path() + "/missing";
  LogMarkKeeper keeper(missing + "/log_mark", kCluster, std::chrono::milliseconds(0));
  keeper.Start();
  keeper.Note(MarkAt(1));
  std::filesystem::create_directory(missing);
  keeper.Note(MarkAt(2));
  keeper.Stop();
  EXPECT_EQ(ReadLogMarkFile(missing + "/log_mark", kCluster).sequence(), 2U);
}

}  // namespace
}  // namespace trainyard::controller
