#include "worker/directory_meter.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST(DirectoryMeterTest, CountsFilesAtAnyDepthButNotTheNamesAtTheTopThatAreLeftOut) {
  TemporaryDir dir;
  std::filesystem::create_directories(dir.File("deep/er"));
  WriteText(dir.File("deep/er/file"), std::string(kMiB, 'x'));
  WriteText(dir.File("deep/output.log"), std::string(kMiB, 'x'));
  WriteText(dir.File("output.log"), std::string(kMiB, 'x'));
  const int64_t bytes = BytesBelow(dir.path(), {"output.log"});
  EXPECT_GE(bytes, 2 * kMiB);
  EXPECT_LT(bytes, 3 * kMiB);
}

TEST(DirectoryMeterTest, FollowsNoLinks) {
  TemporaryDir dir, other;
  WriteText(other.File("file"), std::string(kMiB, 'x'));
  std::filesystem::create_directory_symlink(other.path(), dir.File("link"));
  EXPECT_LT(BytesBelow(dir.path(), {}), kMiB);
}

TEST(DirectoryMeterTest, MeasuresInTheBackground) {
  TemporaryDir dir;
  WriteText(dir.File("file"), std::string(kMiB, 'x'));
  boost::asio::io_context loop;
  DirectoryMeter meter(loop, {});
  EXPECT_EQ(meter.BytesOf(dir.path()), 0);
  meter.Measure({dir.path()});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (meter.BytesOf(dir.path()) == 0 && std::chrono::steady_clock::now() < deadline) {
    loop.restart();
    loop.run_one_for(std::chrono::milliseconds(20));
  }
  EXPECT_GE(meter.BytesOf(dir.path()), kMiB);
}

}  // namespace
}  // namespace trainyard::worker
