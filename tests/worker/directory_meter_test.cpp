#include "worker/directory_meter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/fakes/hung_file_system.h"
#include "tests/fakes/no_threads.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST(DirectoryMeterTest, CountsFilesAtAnyDepthButNotThoseThatAreLeftOut) {
  TemporaryDir dir;
  std::filesystem::create_directories(dir.File("deep/er"));
  WriteText(dir.File("deep/er/file"), std::string(kMiB, 'x'));
  WriteText(dir.File("deep/output.log"), std::string(kMiB, 'x'));
  WriteText(dir.File("output.log"), std::string(kMiB, 'x'));
  const DirectorySize size = SizeBelow(dir.path(), {"output.log", 1});
  EXPECT_GE(size.bytes, 2 * kMiB);
  EXPECT_LT(size.bytes, 3 * kMiB);
  EXPECT_EQ(size.entries, 5) << "directories take inodes, too";
}

TEST(DirectoryMeterTest, FollowsNoLinks) {
  TemporaryDir dir, other;
  WriteText(other.File("file"), std::string(kMiB, 'x'));
  std::filesystem::create_directory_symlink(other.path(), dir.File("link"));
  EXPECT_LT(SizeBelow(dir.path(), {}).bytes, kMiB);
}

TEST(DirectoryMeterTest, WhatLiesTooDeepToBeMeasuredIsTooMuch) {
  TemporaryDir dir;
  const std::string name(20, 'x');
  int directory = open(dir.path().c_str(), O_RDONLY | O_DIRECTORY);
  for (int level = 0; level <= kMostLevels; ++level) {
    ASSERT_EQ(mkdirat(directory, name.c_str(), 0700), 0);
    const int next = openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_GE(next, 0);
    close(directory);
    directory = next;
  }
  close(directory);
  EXPECT_EQ(SizeBelow(dir.path(), {}).entries, kMostEntries);
}

TEST(DirectoryMeterTest, LooksAtNothingThatIsMountedThere) {
  TemporaryDir dir;
  std::filesystem::create_directory(dir.File("hung"));
  const HungFileSystem hung(dir.File("hung"));
  if (!hung.mounted()) GTEST_SKIP() << HungFileSystem::kSkipped;
  WriteText(dir.File("file"), std::string(kMiB, 'x'));
  const DirectorySize size = SizeBelow(dir.path(), {});
  EXPECT_GE(size.bytes, kMiB);
  EXPECT_EQ(size.entries, 2);
  EXPECT_EQ(SizeBelow(dir.File("hung"), {}).entries, 0);
}

TEST(DirectoryMeterTest, WithoutAThreadItTriesAgainLater) {
  TemporaryDir dir;
  boost::asio::io_context loop;
  DirectoryMeter meter(loop, {});
  const NoThreads none;
  meter.Measure({{dir.path(), {}}});
  EXPECT_EQ(meter.SizeOf(dir.path()).entries, 0);
}

TEST(DirectoryMeterTest, MeasuresInTheBackground) {
  TemporaryDir dir;
  WriteText(dir.File("file"), std::string(kMiB, 'x'));
  boost::asio::io_context loop;
  DirectoryMeter meter(loop, {});
  EXPECT_EQ(meter.SizeOf(dir.path()).bytes, 0);
  meter.Measure({{dir.path(), {}}});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (meter.SizeOf(dir.path()).bytes == 0 && std::chrono::steady_clock::now() < deadline) {
    loop.restart();
    loop.run_one_for(std::chrono::milliseconds(20));
  }
  EXPECT_GE(meter.SizeOf(dir.path()).bytes, kMiB);
}

}  // namespace
}  // namespace trainyard::worker
