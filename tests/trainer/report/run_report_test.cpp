#include "trainer/report/run_report.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

TEST(RunReportTest, GroupsDigits) {
  EXPECT_EQ(GroupedDigits(0), "0");
  EXPECT_EQ(GroupedDigits(999), "999");
  EXPECT_EQ(GroupedDigits(1234567), "1,234,567");
  EXPECT_EQ(GroupedDigits(-123), "-123");
  EXPECT_EQ(GroupedDigits(-1234), "-1,234");
}

TEST(RunReportTest, ShortensDurations) {
  EXPECT_EQ(ShortDuration(0.2), "0s");
  EXPECT_EQ(ShortDuration(59.6), "1m00s");
  EXPECT_EQ(ShortDuration(185), "3m05s");
  EXPECT_EQ(ShortDuration(2 * 3600 + 7 * 60), "2h07m");
}

}  // namespace
}  // namespace trainyard::trainer
