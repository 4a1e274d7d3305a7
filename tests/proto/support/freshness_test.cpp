#include "proto/support/freshness.h"

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(FreshnessTest, AReportIsFreshForHalfAMinute) {
  for (const double step_seconds : {0.0, 0.5, 10.0}) {
    EXPECT_TRUE(IsFresh(30'000, step_seconds)) << step_seconds;
    EXPECT_FALSE(IsFresh(30'001, step_seconds)) << step_seconds;
  }
}

TEST(FreshnessTest, AReportOfALongStepIsFreshForThreeSteps) {
  EXPECT_TRUE(IsFresh(180'000, 60));
  EXPECT_FALSE(IsFresh(180'001, 60));
}

}  // namespace
}  // namespace trainyard
