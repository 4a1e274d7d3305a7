#include "trainer/optimizer/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::trainer {
namespace {

constexpr double kPi = 3.14159265358979323846;

class ScheduleTest : public testing::Test {
 protected:
  ScheduleTest() {
    optimizer_.lr = 1.0;
    optimizer_.min_lr = 0.1;
    schedule_.warmup_steps = 10;
  }

  double At(ScheduleKind kind, int64_t step) {
    schedule_.kind = kind;
    return LearningRate(schedule_, optimizer_, 110, step);
  }

  OptimizerConfig optimizer_;
  ScheduleConfig schedule_;
};

TEST_F(ScheduleTest, AllWarmUpInAStraightLine) {
  for (const auto kind : {ScheduleKind::kConstant, ScheduleKind::kCosine, ScheduleKind::kLinear,
                          ScheduleKind::kWsd}) {
    EXPECT_DOUBLE_EQ(At(kind, 1), 0.1);
    EXPECT_DOUBLE_EQ(At(kind, 5), 0.5);
    EXPECT_DOUBLE_EQ(At(kind, 10), 1.0);
  }
}

TEST_F(ScheduleTest, ConstantStays) {
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kConstant, 11), 1.0);
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kConstant, 110), 1.0);
}

TEST_F(ScheduleTest, LinearFallsEvenlyToTheMinimum) {
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kLinear, 35), 1.0 - 0.9 * 0.25);
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kLinear, 60), 0.55);
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kLinear, 110), 0.1);
}

TEST_F(ScheduleTest, CosineFallsToTheMinimum) {
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kCosine, 60), 0.55);
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kCosine, 35), 0.1 + 0.45 * (1 + std::cos(kPi / 4)));
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kCosine, 110), 0.1);
}

TEST_F(ScheduleTest, DecayStepsEndTheFallEarlier) {
  schedule_.decay_steps = 60;
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kLinear, 35), 0.55);
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kLinear, 60), 0.1);
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kCosine, 61), 0.1);
}

TEST_F(ScheduleTest, WsdIsStableUntilTheLastDecaySteps) {
  schedule_.decay_steps = 20;
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kWsd, 90), 1.0);
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kWsd, 100), 0.55);
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kWsd, 110), 0.1);
}

TEST_F(ScheduleTest, WsdDecaysOverATenthByDefault) {
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kWsd, 99), 1.0);
  EXPECT_LT(At(ScheduleKind::kWsd, 100), 1.0);
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kWsd, 110), 0.1);
}

TEST_F(ScheduleTest, WarmUpLongerThanTheRunIsAllThereIs) {
  schedule_.warmup_steps = 1000;
  EXPECT_DOUBLE_EQ(At(ScheduleKind::kCosine, 110), 0.11);
}

}  // namespace
}  // namespace trainyard::trainer
