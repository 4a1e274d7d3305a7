#include "controller/planner/loss_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "controller/planner/scaling_law.h"

namespace trainyard::planner {
namespace {

using ::testing::HasSubstr;

// Normally distributed noise by SplitMix64 and Box-Muller, which give the same values on every
// machine.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  double Next() { return std::sqrt(-2 * std::log(1 - Uniform())) * std::cos(2 * M_PI * Uniform()); }

 private:
  double Uniform() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53;
  }
  uint64_t state_;
};

constexpr LossLaw kLaw = {2.2, 410.7, 0.28};
constexpr double kTokensOfStep = 786432;  // 384 samples of 2,048.

std::vector<LossPoint> Curve(const LossLaw& law, int64_t steps, double deviation = 0,
                             uint64_t seed = 1) {
  Noise noise(seed);
  std::vector<LossPoint> points;
  for (int64_t step = 1; step <= steps; ++step) {
    const double tokens = kTokensOfStep * static_cast<double>(step);
    points.push_back({tokens, law.At(tokens) + deviation * noise.Next()});
  }
  return points;
}

TEST(LossForecastTest, FindsTheLawOfACurveWithoutNoise) {
  const ForecastResult result = ForecastLoss(Curve(kLaw, 2000), 0, 85e9);
  ASSERT_TRUE(result.forecast.has_value()) << result.problem;
  EXPECT_NEAR(result.forecast->law.exponent, kLaw.exponent, 1e-3);
  EXPECT_NEAR(result.forecast->law.floor, kLaw.floor, 0.01);
  EXPECT_NEAR(result.forecast->loss, kLaw.At(85e9), 2e-3);
  EXPECT_FALSE(result.forecast->exponent_at_bound);
  EXPECT_EQ(result.forecast->points, 1801) << "without the first tenth";
}

TEST(LossForecastTest, IsTheLossLawOfTheDocumentsForOneModel) {
  std::vector<LossPoint> points;
  for (int step = 1; step <= 500; ++step) {
    points.push_back({1e8 * step, LossOf(1.545e9, 1e8 * step)});
  }
  EXPECT_NEAR(ForecastLoss(points, 0, 101.909e9).forecast->loss, 2.335, 0.002);
}

// Each interval contains the truth with a probability of 95 %. With a probability of 99.9 %, at
// least 34 of 40 intervals contain it.
TEST(LossForecastTest, IntervalsHoldTheTruth) {
  int hits = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const ForecastResult result = ForecastLoss(Curve(kLaw, 2000, 0.03, 1000 * seed), 0, 20e9);
    ASSERT_TRUE(result.forecast.has_value());
    const LossForecast& forecast = *result.forecast;
    EXPECT_LE(forecast.low, forecast.loss);
    EXPECT_GE(forecast.high, forecast.loss);
    EXPECT_NEAR(forecast.noise, 0.03, 0.004);
    if (forecast.low <= kLaw.At(20e9) && kLaw.At(20e9) <= forecast.high) ++hits;
  }
  EXPECT_GE(hits, 34);
}

TEST(LossForecastTest, TheFurtherTheWider) {
  const std::vector<LossPoint> points = Curve(kLaw, 1000, 0.03);
  const auto width = [&](double tokens) {
    const LossForecast forecast = *ForecastLoss(points, 0, tokens).forecast;
    return forecast.high - forecast.low;
  };
  EXPECT_LT(width(2e9), width(20e9));
  EXPECT_LT(width(20e9), width(70e9));
}

TEST(LossForecastTest, RefusesFarMoreTokensThanWereSeen) {
  const std::vector<LossPoint> points = Curve(kLaw, 1000, 0.03);
  const double seen = points.back().tokens;
  EXPECT_FALSE(ForecastLoss(points, 0, 9 * seen).forecast->is_far);
  EXPECT_TRUE(ForecastLoss(points, 0, 99 * seen).forecast->is_far);
  const ForecastResult refused = ForecastLoss(points, 0, 277'000 * seen);
  EXPECT_FALSE(refused.forecast.has_value());
  EXPECT_THAT(refused.problem, HasSubstr("2.77e+05 times the tokens seen so far"));
  EXPECT_THAT(refused.advice, HasSubstr("at most 78.6B tokens"));
}

TEST(LossForecastTest, SpikesAndLossesThatAreNotFiniteHardlyMoveIt) {
  std::vector<LossPoint> points = Curve(kLaw, 2000, 0.03);
  const double without = ForecastLoss(points, 0, 20e9).forecast->loss;
  for (size_t i = 300; i < points.size(); i += 50) points[i].loss += 5;
  points[500].loss = std::numeric_limits<double>::quiet_NaN();
  const ForecastResult result = ForecastLoss(points, 0, 20e9);
  ASSERT_TRUE(result.forecast.has_value());
  EXPECT_NEAR(result.forecast->loss, without, 0.03);
  EXPECT_EQ(result.forecast->points, 1800);
}

TEST(LossForecastTest, LeavesTheWarmUpOut) {
  std::vector<LossPoint> points = Curve(kLaw, 2000);
  for (size_t i = 0; i < 400; ++i) points[i].loss = 11;
  const ForecastResult result = ForecastLoss(points, 401 * kTokensOfStep, 20e9);
  ASSERT_TRUE(result.forecast.has_value()) << result.problem;
  EXPECT_NEAR(result.forecast->loss, kLaw.At(20e9), 1e-3);
}

TEST(LossForecastTest, RefusesTooFewPointsAndTooShortRanges) {
  EXPECT_THAT(ForecastLoss({}, 0, 1e9).problem, HasSubstr("0 losses"));
  const ForecastResult few = ForecastLoss(Curve(kLaw, 20), 0, 85e9);
  EXPECT_FALSE(few.forecast.has_value());
  EXPECT_THAT(few.problem, HasSubstr("a fit needs at least 20"));
  EXPECT_THAT(few.advice, HasSubstr("train longer"));
  EXPECT_THAT(ForecastLoss(Curve(kLaw, 2000), 1000 * kTokensOfStep, 85e9).problem,
              HasSubstr("the last token count is 2 times the first"));
}

TEST(LossForecastTest, RefusesTokensOfThePastAndALossThatDoesNotFall) {
  EXPECT_THAT(ForecastLoss(Curve(kLaw, 2000), 0, 1e6).problem, HasSubstr("more than"));
  std::vector<LossPoint> rising = Curve(kLaw, 2000);
  for (size_t i = 0; i < rising.size(); ++i) rising[i].loss = 2 + 1e-3 * static_cast<double>(i);
  EXPECT_EQ(ForecastLoss(rising, 0, 85e9).problem, "the loss does not fall");
}

TEST(LossForecastTest, SaysThatTheExponentIsAtItsBound) {
  std::vector<LossPoint> points = Curve(kLaw, 500);
  for (LossPoint& point : points) point.loss = 1 + 1e14 / (point.tokens * point.tokens);
  EXPECT_TRUE(ForecastLoss(points, 0, 20e9).forecast->exponent_at_bound);
}

}  // namespace
}  // namespace trainyard::planner
