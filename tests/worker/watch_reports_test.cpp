#include "worker/watch_reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class WatchReportsTest : public testing::Test {
 protected:
  WatchReportsTest() { WriteText(dir_.File("telemetry"), ""); }

  std::string Telemetry() const { return ReadText(dir_.File("telemetry")); }
  int64_t Lines() const { return std::ranges::count(Telemetry(), '\n'); }

  TemporaryDir dir_;
  WatchReports reports_{"job 1 attempt 1", "some_code", dir_.File("telemetry")};
};

TEST_F(WatchReportsTest, ReportsATextOnce) {
  reports_.Report("the disk is full", WatchLook::kRunning);
  reports_.Report("the disk is full", WatchLook::kRunning);
  EXPECT_EQ(Lines(), 1);
  EXPECT_THAT(Telemetry(), HasSubstr("some_code"));
  EXPECT_THAT(Telemetry(), HasSubstr("the disk is full"));
  EXPECT_FALSE(reports_.IsNew("the disk is full"));
}

TEST_F(WatchReportsTest, TheNumberOfTextsIsBounded) {
  for (std::size_t i = 0; i < WatchReports::kMostTexts + 5; ++i) {
    reports_.Report("problem " + std::to_string(i), WatchLook::kRunning);
  }
  EXPECT_EQ(Lines(), static_cast<int64_t>(WatchReports::kMostTexts));
  EXPECT_FALSE(reports_.IsNew("a further problem"));
}

// The program writes a line at this moment.
TEST_F(WatchReportsTest, AFailedAppendIsRepeated) {
  WriteText(dir_.File("telemetry"), "{\"type\": ");
  reports_.Report("the disk is full", WatchLook::kRunning);
  EXPECT_EQ(Telemetry(), "{\"type\": ");
  WriteText(dir_.File("telemetry"), "");
  EXPECT_THAT(Telemetry(), IsEmpty());
  reports_.Report("the disk is full", WatchLook::kRunning);
  EXPECT_EQ(Lines(), 1);
}

}  // namespace
}  // namespace trainyard::worker
