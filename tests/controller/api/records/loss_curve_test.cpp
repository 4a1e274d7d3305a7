#include "controller/api/records/loss_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace trainyard::controller {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

void Add(double loss, v1::Series& series) {
  series.add_steps(series.steps_size() + 1);
  series.add_last(loss);
}

v1::Series Falling(int count) {
  v1::Series series;
  for (int i = 0; i < count; ++i) Add(4 - 0.002 * i, series);
  return series;
}

// Typical settings of a trainyard-trainer job.
v1::JobSpec Spec() {
  v1::JobSpec spec;
  spec.mutable_guard()->set_policy(v1::GUARD_POLICY_ALERT);
  spec.mutable_guard()->set_window(100);
  spec.mutable_guard()->set_min_points(10);
  spec.mutable_guard()->set_spike_ratio(3);
  spec.mutable_guard()->set_z_score(10);
  spec.mutable_guard()->set_min_rise(0.01);
  spec.mutable_guard()->set_skip_batches(1);
  spec.mutable_optimizer()->set_clip_grad(1);
  spec.mutable_optimizer()->set_lr(3e-4);
  return spec;
}

v1::GetLossReportResponse Report(const v1::Series& losses, const v1::JobSpec& spec = Spec()) {
  LossCurveAnalysis analysis(spec);
  analysis.Add(losses);
  return analysis.Report();
}

TEST(LossCurveTest, NeedsTwoWindows) {
  const v1::GetLossReportResponse early = Report(Falling(199));
  EXPECT_FALSE(early.has_curve());
  EXPECT_EQ(early.losses(), 199);
  EXPECT_EQ(early.losses_needed(), 200);
  EXPECT_TRUE(Report(Falling(200)).has_curve());
}

TEST(LossCurveTest, ComparesTheNewestHundredWithTheHundredBefore) {
  const v1::LossCurve curve = Report(Falling(300)).curve();
  EXPECT_EQ(curve.window(), 100);
  EXPECT_NEAR(curve.recent_loss(), 4 - 0.002 * 249.5, 1e-9);
  EXPECT_NEAR(curve.previous_loss(), 4 - 0.002 * 149.5, 1e-9);
  EXPECT_NEAR(curve.improvement_rate(), 0.2 / curve.previous_loss(), 1e-9);
  EXPECT_FALSE(curve.is_stagnant());
  EXPECT_EQ(curve.recommendation(), "normal");
}

TEST(LossCurveTest, SaysThatTheLossNoLongerFalls) {
  v1::Series series;
  for (int i = 0; i < 250; ++i) Add(2, series);
  const v1::LossCurve curve = Report(series).curve();
  EXPECT_TRUE(curve.is_stagnant());
  EXPECT_THAT(curve.recommendation(), HasSubstr("higher learning rate"));
}

// L = 1.7 + 9 / step^0.28, with 2 % noise. L falls by less than a thousandth in 100 steps.
TEST(LossCurveTest, ALongHealthyRunHasNeitherSpikesNorStagnation) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.02);
  v1::Series series;
  for (int step = 1; step <= 20'000; ++step) {
    Add((1.7 + 9 / std::pow(step, 0.28)) * (1 + noise(random)), series);
  }
  const v1::LossCurve curve = Report(series).curve();
  EXPECT_EQ(curve.spike_count(), 0);
  EXPECT_FALSE(curve.is_stagnant());
  EXPECT_EQ(curve.window(), 2'000);
  EXPECT_EQ(curve.recommendation(), "normal");
}

// The first losses are far above the mean of the run, but each loss is below the previous losses.
v1::Series Exponential(int count) {
  v1::Series series;
  for (int step = 0; step < count; ++step) Add(2 + 8 * std::exp(-step / 60.0), series);
  return series;
}

TEST(LossCurveTest, ASmoothExponentialCurveHasNoSpikes) {
  const v1::LossCurve curve = Report(Exponential(500)).curve();
  EXPECT_EQ(curve.spike_count(), 0);
  EXPECT_THAT(curve.spike_steps(), IsEmpty());
}

TEST(LossCurveTest, NamesALateSpikeBelowTheFirstLosses) {
  v1::Series series = Exponential(450);
  Add(7, series);
  for (int i = 0; i < 50; ++i) Add(2, series);
  EXPECT_THAT(Report(series).curve().spike_steps(), ElementsAre(451));
}

TEST(LossCurveTest, NamesSpikes) {
  v1::Series series = Falling(250);
  Add(40, series);
  for (int i = 0; i < 49; ++i) Add(3.4, series);
  const v1::LossCurve curve = Report(series).curve();
  EXPECT_THAT(curve.spike_steps(), ElementsAre(251));
  EXPECT_EQ(curve.spike_count(), 1);
}

TEST(LossCurveTest, SpikesFollowTheSettingsOfTheJobsGuard) {
  v1::Series series = Falling(250);
  Add(8, series);
  for (int i = 0; i < 49; ++i) Add(3.4, series);
  EXPECT_EQ(Report(series).curve().spike_count(), 1);
  v1::JobSpec spec = Spec();
  spec.mutable_guard()->set_z_score(0);
  EXPECT_EQ(Report(series, spec).curve().spike_count(), 0) << "8 is less than 3 times the mean";
}

TEST(LossCurveTest, NamesTheNewestHundredOfManySpikes) {
  v1::Series series = Falling(1000);
  for (int i = 0; i < 150; ++i) {
    Add(400, series);
    Add(2 - 0.001 * i, series);
  }
  const v1::LossCurve curve = Report(series).curve();
  EXPECT_EQ(curve.spike_count(), 150);
  ASSERT_EQ(curve.spike_steps_size(), 100);
  EXPECT_EQ(curve.spike_steps(0), 1101);
  EXPECT_EQ(curve.spike_steps(99), 1299);
}

TEST(LossCurveTest, LeavesOutLossesThatAreNotFiniteAndCountsThem) {
  v1::Series series = Falling(250);
  Add(std::nan(""), series);
  const v1::LossCurve curve = Report(series).curve();
  EXPECT_EQ(curve.not_finite(), 1);
  EXPECT_TRUE(std::isfinite(curve.recent_loss()));
  EXPECT_THAT(curve.recommendation(), HasSubstr("not finite"));
}

TEST(LossCurveTest, AdviceLeavesOutWhatIsSet) {
  v1::Series series;
  for (int i = 0; i < 300; ++i) Add(i == 100 ? 40 : 4 - 0.002 * i, series);
  v1::JobSpec spec = Spec();
  EXPECT_THAT(Report(series, spec).curve().recommendation(),
              AllOf(HasSubstr("policy: skip"), Not(HasSubstr("clip_grad"))));
  spec.mutable_guard()->set_policy(v1::GUARD_POLICY_SKIP);
  spec.mutable_optimizer()->set_clip_grad(0);
  EXPECT_THAT(Report(series, spec).curve().recommendation(),
              AllOf(Not(HasSubstr("policy")), HasSubstr("guard.skip_batches above 1"),
                    HasSubstr("optimizer.clip_grad 1"), HasSubstr("below 0.0003")));
}

}  // namespace
}  // namespace trainyard::controller
