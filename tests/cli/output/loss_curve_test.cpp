#include "cli/output/loss_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void Add(double loss, v1::Series& series) {
  series.add_steps(series.steps_size() + 1);
  series.add_last(loss);
  series.add_max(loss);
  series.add_mean(loss);
  series.add_nan_counts(std::isnan(loss) ? 1 : 0);
}

v1::Series Falling(int count) {
  v1::Series series;
  for (int i = 0; i < count; ++i) Add(4 - 0.002 * i, series);
  return series;
}

TEST(LossCurveTest, NeedsTwoWindows) {
  EXPECT_FALSE(AnalyseLossCurve(Falling(199)).has_value());
  EXPECT_TRUE(AnalyseLossCurve(Falling(200)).has_value());
}

TEST(LossCurveTest, ComparesTheNewestHundredWithTheHundredBefore) {
  const LossCurve curve = *AnalyseLossCurve(Falling(300));
  EXPECT_NEAR(curve.recent_loss, 4 - 0.002 * 249.5, 1e-9);
  EXPECT_NEAR(curve.previous_loss, 4 - 0.002 * 149.5, 1e-9);
  EXPECT_NEAR(curve.improvement, 0.2 / curve.previous_loss, 1e-9);
  EXPECT_FALSE(curve.is_stagnant);
  EXPECT_EQ(curve.recommendation, "normal");
  EXPECT_THAT(LossCurveText(curve), HasSubstr("by 5.40 %"));
}

TEST(LossCurveTest, SaysThatTheLossNoLongerFalls) {
  v1::Series series;
  for (int i = 0; i < 250; ++i) Add(2, series);
  const LossCurve curve = *AnalyseLossCurve(series);
  EXPECT_TRUE(curve.is_stagnant);
  EXPECT_THAT(curve.recommendation, HasSubstr("higher learning rate"));
}

TEST(LossCurveTest, NamesSpikes) {
  v1::Series series = Falling(250);
  Add(40, series);
  for (int i = 0; i < 49; ++i) Add(3.4, series);
  const LossCurve curve = *AnalyseLossCurve(series);
  EXPECT_THAT(curve.spikes, ElementsAre(251));
  EXPECT_EQ(LossCurveDocument(curve)["spike_count"], 1);
  EXPECT_THAT(LossCurveText(curve), HasSubstr("1, at steps 251"));
}

TEST(LossCurveTest, LeavesOutLossesThatAreNotFiniteAndCountsThem) {
  v1::Series series = Falling(250);
  Add(std::nan(""), series);
  const LossCurve curve = *AnalyseLossCurve(series);
  EXPECT_EQ(curve.not_finite, 1);
  EXPECT_TRUE(std::isfinite(curve.recent_loss));
  EXPECT_THAT(curve.recommendation, HasSubstr("not finite"));
}

}  // namespace
}  // namespace trainyard::cli
