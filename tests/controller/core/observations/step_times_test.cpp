#include "controller/core/observations/step_times.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(StepTimesTest, NothingIsKnownAtFirst) {
  const StepTimes times;
  EXPECT_TRUE(times.empty());
  EXPECT_EQ(times.Newest(), 0);
  EXPECT_EQ(times.Pace(), 0);
  EXPECT_EQ(times.Slow(), 0);
}

TEST(StepTimesTest, OneSlowStepProvesNothing) {
  EXPECT_EQ(StepTimes({100}).Slow(), 100) << "the only one";
  EXPECT_EQ(StepTimes({100, 1}).Slow(), 1);
  EXPECT_EQ(StepTimes({1, 100, 2, 1}).Slow(), 2);
}

TEST(StepTimesTest, SlowIsThePercentileOfTheNewest) {
  StepTimes times;
  for (int i = 1; i <= 1000; ++i) times.Add(i);
  EXPECT_EQ(times.size(), kStepTimesKept);
  EXPECT_EQ(times.Newest(), 1000);
  // The values are 745 to 1000. The 99th percentile has index 255 * 99 / 100 = 252.
  EXPECT_EQ(times.Slow(), 745 + 252);
}

TEST(StepTimesTest, PaceIsTheMeanOfTheNewestSixteen) {
  EXPECT_EQ(StepTimes({1, 2}).Pace(), 1.5);
  StepTimes times = {1000};
  for (int i = 0; i < 16; ++i) times.Add(3);
  EXPECT_EQ(times.Pace(), 3);
}

TEST(StepTimesTest, TheLongestIsThatOfAllKeptTimes) {
  EXPECT_EQ(StepTimes().Longest(), 0);
  EXPECT_EQ(StepTimes({1, 100, 2}).Longest(), 100);
}

}  // namespace
}  // namespace trainyard::controller
