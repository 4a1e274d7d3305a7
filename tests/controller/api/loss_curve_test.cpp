#include "controller/api/loss_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace trainyard::controller {
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
  const v1::GetLossReportResponse early = AnalyseLossCurve(Falling(199));
  EXPECT_FALSE(early.has_curve());
  EXPECT_EQ(early.losses(), 199);
  EXPECT_EQ(early.losses_needed(), 200);
  EXPECT_TRUE(AnalyseLossCurve(Falling(200)).has_curve());
}

TEST(LossCurveTest, ComparesTheNewestHundredWithTheHundredBefore) {
  const v1::LossCurve curve = AnalyseLossCurve(Falling(300)).curve();
  EXPECT_NEAR(curve.recent_loss(), 4 - 0.002 * 249.5, 1e-9);
  EXPECT_NEAR(curve.previous_loss(), 4 - 0.002 * 149.5, 1e-9);
  EXPECT_NEAR(curve.improvement_rate(), 0.2 / curve.previous_loss(), 1e-9);
  EXPECT_FALSE(curve.is_stagnant());
  EXPECT_EQ(curve.recommendation(), "normal");
}

TEST(LossCurveTest, SaysThatTheLossNoLongerFalls) {
  v1::Series series;
  for (int i = 0; i < 250; ++i) Add(2, series);
  const v1::LossCurve curve = AnalyseLossCurve(series).curve();
  EXPECT_TRUE(curve.is_stagnant());
  EXPECT_THAT(curve.recommendation(), HasSubstr("higher learning rate"));
}

TEST(LossCurveTest, NamesSpikes) {
  v1::Series series = Falling(250);
  Add(40, series);
  for (int i = 0; i < 49; ++i) Add(3.4, series);
  const v1::LossCurve curve = AnalyseLossCurve(series).curve();
  EXPECT_THAT(curve.spike_steps(), ElementsAre(251));
  EXPECT_EQ(curve.spike_count(), 1);
}

TEST(LossCurveTest, NamesTheNewestHundredOfManySpikes) {
  v1::Series series = Falling(4000);
  for (int i = 0; i < 150; ++i) Add(400, series);
  const v1::LossCurve curve = AnalyseLossCurve(series).curve();
  EXPECT_EQ(curve.spike_count(), 150);
  ASSERT_EQ(curve.spike_steps_size(), 100);
  EXPECT_EQ(curve.spike_steps(0), 4051);
  EXPECT_EQ(curve.spike_steps(99), 4150);
}

TEST(LossCurveTest, LeavesOutLossesThatAreNotFiniteAndCountsThem) {
  v1::Series series = Falling(250);
  Add(std::nan(""), series);
  const v1::LossCurve curve = AnalyseLossCurve(series).curve();
  EXPECT_EQ(curve.not_finite(), 1);
  EXPECT_TRUE(std::isfinite(curve.recent_loss()));
  EXPECT_THAT(curve.recommendation(), HasSubstr("not finite"));
}

}  // namespace
}  // namespace trainyard::controller
