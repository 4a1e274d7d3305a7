#include "controller/storage/store_scrubber.h"

#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/controller_harness.h"
#include "tests/controller/store/temporary_directory.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Polls until `condition` returns true. The scrubber's thread sends no notification of its steps.
bool Becomes(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kTestTimeout;
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::yield();
  }
  return false;
}

class StoreScrubberTest : public testing::Test {
 protected:
  StoreScrubberTest() {
    // Creates the stores and closes them. Closing folds the write-ahead log into the files, so each
    // file has at least two pages.
    EXPECT_TRUE(OpenSqliteStores(directory_.path() + "/store").ok());
  }
  std::string Path(const std::string& name) const { return directory_.path() + "/store/" + name; }

  TemporaryDirectory directory_;
  HandClock clock_;
  StorageHealth health_{clock_};
  const ScrubOptions fast_{
      .bytes = 4096, .pause = std::chrono::milliseconds(0), .rest = std::chrono::milliseconds(0)};
};

TEST_F(StoreScrubberTest, APassOverSoundStoresSaysWhenItEnded) {
  StoreScrubber scrubber(directory_.path() + "/store", health_, clock_, fast_);
  EXPECT_EQ(scrubber.Report().size(), 3u);
  EXPECT_EQ(scrubber.Report()[0].finished_ms(), 0);
  scrubber.Start();
  EXPECT_TRUE(Becomes([&] {
    const auto reports = scrubber.Report();
    return std::ranges::all_of(reports,
                               [](const auto& report) { return report.finished_ms() > 0; });
  }));
  EXPECT_THAT(health_.Problems(), IsEmpty());
}

TEST_F(StoreScrubberTest, FindsDamageThatNobodyReads) {
  std::FILE* file = std::fopen(Path("logs.db").c_str(), "r+b");
  ASSERT_NE(file, nullptr);
  std::fseek(file, 4096 + 50, SEEK_SET);
  const int byte = std::fgetc(file);
  std::fseek(file, 4096 + 50, SEEK_SET);
  std::fputc(byte ^ 0xff, file);
  std::fclose(file);
  StoreScrubber scrubber(directory_.path() + "/store", health_, clock_, fast_);
  scrubber.Start();
  ASSERT_TRUE(Becomes([&] { return !health_.Problems().empty(); }));
  EXPECT_EQ(health_.Problems()[0].store(), "logs");
  EXPECT_THAT(health_.Problems()[0].message(), HasSubstr("byte 4096"));
  EXPECT_FALSE(health_.Works(StoreName::kLogs));
  EXPECT_TRUE(health_.Works(StoreName::kEvents));
  EXPECT_TRUE(Becomes([&] { return scrubber.Report()[2].damaged_pages() == 1; }));
}

TEST_F(StoreScrubberTest, WithoutFilesThereIsNothingToDo) {
  StoreScrubber scrubber("", health_, clock_);
  scrubber.Start();
  EXPECT_THAT(scrubber.Report(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::controller
