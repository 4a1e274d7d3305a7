#include "proto/contract/expert_load.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard {
namespace {

TEST(ExpertLoadTest, CodesAreWithinAFewPercent) {
  for (double relative = 0.005; relative < 240; relative *= 1.03) {
    EXPECT_NEAR(ExpertLoadOf(ExpertLoadCode(relative)) / relative, 1, 0.028) << relative;
  }
}

TEST(ExpertLoadTest, OnlyNoRowsAreZero) {
  EXPECT_EQ(ExpertLoadCode(0), 0);
  EXPECT_EQ(ExpertLoadCode(std::nan("")), 0);
  EXPECT_EQ(ExpertLoadCode(1e-9), 1);
  EXPECT_EQ(ExpertLoadCode(1e9), 255);
  EXPECT_EQ(ExpertLoadOf(0), 0);
  EXPECT_EQ(ExpertLoadOf(ExpertLoadCode(1)), 1);
  EXPECT_GT(ExpertLoadOf(1), 0);
}

}  // namespace
}  // namespace trainyard
