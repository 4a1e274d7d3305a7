#include "worker/disk_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::worker {
namespace {

using testing::HasSubstr;

constexpr int64_t kMebibyte = 1 << 20;

std::string TroubleOf(DiskWatch& watch, const DiskState& disk) {
  return watch.Judge(disk).trouble();
}

TEST(DiskWatchTest, ReportsTheDiskAndNoTroubleWithSpace) {
  DiskWatch watch("/data", std::nullopt);
  const v1::NodeCondition condition =
      watch.Judge({.bytes = 100 * kMebibyte, .free_bytes = 3 * kMebibyte});
  EXPECT_EQ(condition.trouble(), "");
  EXPECT_EQ(condition.disk_bytes(), 100 * kMebibyte);
  EXPECT_EQ(condition.disk_free_bytes(), 3 * kMebibyte);
}

TEST(DiskWatchTest, TheDefaultFloorIsAFortiethOfASmallDisk) {
  DiskWatch watch("/data", std::nullopt);
  EXPECT_THAT(TroubleOf(watch, {.bytes = 400 * kMebibyte, .free_bytes = 9 * kMebibyte}),
              testing::AllOf(HasSubstr("/data has 9.0 MiB free, but ranks need 10.0 MiB"),
                             HasSubstr("--free-space-floor")));
  DiskWatch large("/data", std::nullopt);
  EXPECT_EQ(TroubleOf(large, {.bytes = 1 << 20 << 20, .free_bytes = 256 * kMebibyte}), "");
  EXPECT_NE(TroubleOf(large, {.bytes = 1LL << 40, .free_bytes = 255 * kMebibyte}), "");
}

TEST(DiskWatchTest, TroubleEndsAQuarterAboveTheFloor) {
  DiskWatch watch("/data", 100 * kMebibyte);
  EXPECT_EQ(TroubleOf(watch, {.bytes = 1000 * kMebibyte, .free_bytes = 100 * kMebibyte}), "");
  EXPECT_NE(TroubleOf(watch, {.bytes = 1000 * kMebibyte, .free_bytes = 99 * kMebibyte}), "");
  EXPECT_NE(TroubleOf(watch, {.bytes = 1000 * kMebibyte, .free_bytes = 124 * kMebibyte}), "");
  EXPECT_EQ(TroubleOf(watch, {.bytes = 1000 * kMebibyte, .free_bytes = 125 * kMebibyte}), "");
}

TEST(DiskWatchTest, ADiskWithoutFilesOrReadOnlyIsInTrouble) {
  DiskWatch watch("/data", 0);
  const DiskState sound{.bytes = 1000 * kMebibyte, .free_bytes = 500 * kMebibyte, .files = 100'000};
  DiskState no_files = sound;
  no_files.free_files = 999;
  EXPECT_THAT(TroubleOf(watch, no_files), HasSubstr("only 999 free inodes"));
  DiskState read_only = sound;
  read_only.free_files = 50'000;
  read_only.read_only = true;
  EXPECT_THAT(TroubleOf(watch, read_only), HasSubstr("mounted read-only"));
}

TEST(DiskWatchTest, ADirectoryThatIsGoneIsTrouble) {
  EXPECT_THAT(DiskWatch("/no/such/directory", 0).Look().trouble(), HasSubstr("cannot read"));
}

}  // namespace
}  // namespace trainyard::worker
