#include "worker/spool/output_space.h"

#include <sys/stat.h>

#include <fstream>

#include "gtest/gtest.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

constexpr int64_t kMiB = 1 << 20;

OutputFile FileOf(const std::string& path, int64_t size, int64_t stored) {
  return {.path = path, .first_byte = 0, .size = size, .stored = stored, .keep_from = size};
}

int64_t Freed(const std::vector<Release>& releases) {
  int64_t bytes = 0;
  for (const Release& release : releases) bytes += release.end - release.begin;
  return bytes;
}

TEST(PlanReleaseTest, WhatIsStoredGoesFirstOldestAttemptFirst) {
  const std::vector<OutputFile> files = {FileOf("old", 8 * kMiB, 2 * kMiB),
                                         FileOf("new", 8 * kMiB, 8 * kMiB)};
  const auto releases = PlanRelease(files, 6 * kMiB);
  ASSERT_EQ(releases.size(), 2u);
  EXPECT_EQ(releases[0].path, "old");
  EXPECT_EQ(releases[0].end, 2 * kMiB);
  EXPECT_EQ(releases[1].end, 4 * kMiB);
  EXPECT_EQ(releases[0].lost + releases[1].lost, 0);
}

TEST(PlanReleaseTest, ThenTheOldestBytesThatAreNotStored) {
  const std::vector<OutputFile> files = {FileOf("old", 8 * kMiB, 2 * kMiB),
                                         FileOf("new", 4 * kMiB, 1 * kMiB)};
  const auto releases = PlanRelease(files, 5 * kMiB);
  ASSERT_EQ(releases.size(), 2u);
  EXPECT_EQ(releases[0].end, 4 * kMiB);
  EXPECT_EQ(releases[0].lost, 2 * kMiB);
  EXPECT_EQ(releases[1].end, 1 * kMiB);
  EXPECT_EQ(releases[1].lost, 0);
}

TEST(PlanReleaseTest, ARankThatFloodsLosesItsOwnOutput) {
  const std::vector<OutputFile> files = {FileOf("neighbour", 4 * kMiB, 2 * kMiB),
                                         FileOf("flood", 80 * kMiB, 1 * kMiB)};
  const auto releases = PlanRelease(files, 20 * kMiB);
  ASSERT_EQ(releases.size(), 2u);
  EXPECT_EQ(releases[0].lost, 0);
  EXPECT_EQ(releases[1].lost, 17 * kMiB);
}

TEST(PlanReleaseTest, TheEndAndWhatMetricsAreReadFromStay) {
  OutputFile parsed = FileOf("parsed", 8 * kMiB, 8 * kMiB);
  parsed.keep_from = 3 * kMiB;
  const auto releases = PlanRelease({parsed, FileOf("plain", 2 * kMiB, 0)}, 100 * kMiB);
  ASSERT_EQ(releases.size(), 2u);
  EXPECT_EQ(releases[0].end, 3 * kMiB);
  EXPECT_EQ(releases[1].end, 2 * kMiB - kOutputKeptAtEnd);
}

TEST(PlanReleaseTest, NothingToFreeReleasesNothing) {
  EXPECT_TRUE(PlanRelease({FileOf("a", 8 * kMiB, 8 * kMiB)}, 0).empty());
  EXPECT_TRUE(PlanRelease({FileOf("a", 1000, 1000)}, kMiB).empty()) << "less than a block";
}

TEST(PlanReleaseTest, GoesOnWhereItStopped) {
  OutputFile file = FileOf("a", 8 * kMiB, 0);
  file.first_byte = 3 * kMiB;
  const auto releases = PlanRelease({file}, kMiB);
  ASSERT_EQ(releases.size(), 1u);
  EXPECT_EQ(releases[0].begin, 3 * kMiB);
  EXPECT_EQ(releases[0].end, 4 * kMiB);
  EXPECT_EQ(releases[0].lost, kMiB);
  EXPECT_EQ(Freed(releases), kMiB);
}

TEST(DropOutputTest, FreesBlocksAndKeepsOffsets) {
  TemporaryDir temporary;
  const std::string path = temporary.File("output.log");
  std::ofstream(path) << std::string(kMiB, 'a') << std::string(kMiB, 'b');
  EXPECT_EQ(FirstKeptByte(path), 0);
  struct stat before {};
  ASSERT_EQ(stat(path.c_str(), &before), 0);
  ASSERT_TRUE(DropOutput({path, 0, kMiB, 0}).ok());
  struct stat after {};
  ASSERT_EQ(stat(path.c_str(), &after), 0);
  EXPECT_EQ(after.st_size, 2 * kMiB);
  EXPECT_LE(after.st_blocks * 512, before.st_blocks * 512 - kMiB);
  EXPECT_EQ(FirstKeptByte(path), kMiB);
  std::ifstream file(path);
  file.seekg(kMiB);
  EXPECT_EQ(file.get(), 'b');
}

TEST(DropOutputTest, MissingFileHasNothing) {
  TemporaryDir temporary;
  EXPECT_EQ(FirstKeptByte(temporary.File("none")), 0);
  EXPECT_FALSE(DropOutput({temporary.File("none"), 0, kMiB, 0}).ok());
}

}  // namespace
}  // namespace trainyard::worker
