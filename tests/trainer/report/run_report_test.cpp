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

}  // namespace
}  // namespace trainyard::trainer
