#include "controller/core/observations/rate_curve.h"

#include <cmath>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(RateCurveTest, GivesRatesBetweenItsPoints) {
  RateCurve curve;
  curve.Add({10, 1e-4});
  curve.Add({20, 3e-4});
  EXPECT_FALSE(curve.At(9).has_value()) << "before the first point";
  const auto exact = curve.At(10);
  ASSERT_TRUE(exact.has_value());
  EXPECT_EQ(exact->low, 1e-4);
  EXPECT_EQ(exact->high, 1e-4);
  const auto between = curve.At(15);
  ASSERT_TRUE(between.has_value());
  EXPECT_EQ(between->low, 1e-4);
  EXPECT_EQ(between->high, 3e-4);
  EXPECT_NEAR(between->expected, 2e-4, 1e-12);
}

TEST(RateCurveTest, ContinuesWithAtMostTwiceTheSlope) {
  RateCurve curve;
  curve.Add({10, 4e-4});
  EXPECT_FALSE(curve.At(11).has_value()) << "one point has no slope";
  curve.Add({20, 3e-4});
  const auto after = curve.At(30);
  ASSERT_TRUE(after.has_value());
  EXPECT_NEAR(after->low, 1e-4, 1e-12);
  EXPECT_NEAR(after->high, 3e-4, 1e-12);
  EXPECT_NEAR(after->expected, 3e-4, 1e-12) << "the last rate that was reported";
  EXPECT_TRUE(curve.At(180).has_value());
  EXPECT_FALSE(curve.At(181).has_value()) << "too far from the last point";
}

TEST(RateCurveTest, IgnoresRepeatedSteps) {
  RateCurve curve;
  curve.Add({10, 1e-4});
  curve.Add({10, 9e-4});
  curve.Add({5, 9e-4});
  ASSERT_EQ(curve.points().size(), 1U);
  EXPECT_EQ(curve.points()[0].rate, 1e-4);
}

// A long run keeps the newest two points and a bounded number of points over its whole length.
TEST(RateCurveTest, IsBounded) {
  const auto rate = [](int64_t step) { return 1e-4 * (1 + std::cos(step / 32'000.0)); };
  RateCurve curve;
  for (int64_t step = 1; step <= 100'000; ++step) {
    curve.Add({step, rate(step)});
    ASSERT_LE(curve.points().size(), RateCurve::kMaxPoints);
  }
  EXPECT_EQ(curve.points().front().step, 1);
  EXPECT_EQ(curve.points().back().step, 100'000);
  EXPECT_EQ(curve.points()[curve.points().size() - 2].step, 99'999);
  for (int64_t step = 1; step <= 100'000; step += 777) {
    const auto range = curve.At(step);
    ASSERT_TRUE(range.has_value()) << step;
    EXPECT_NEAR(range->expected, rate(step), 1e-6) << step;
    EXPECT_LE(range->high - range->low, 2e-5) << step;
  }
}

TEST(RateCurveTest, ANewerCurveReplacesTheStepsThatItRepeats) {
  RateCurve curve;
  RateCurve newer;
  for (int64_t step = 1; step <= 10; ++step) curve.Add({step, 1});
  for (int64_t step = 6; step <= 12; ++step) newer.Add({step, 2});
  curve.Continue(6, newer);
  EXPECT_EQ(curve.At(5)->expected, 1);
  EXPECT_EQ(curve.At(6)->expected, 2);
  EXPECT_EQ(curve.points().size(), 12U);
}

}  // namespace
}  // namespace trainyard::controller
