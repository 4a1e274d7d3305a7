#include "controller/core/observations/divergence_watch.h"

#include <cmath>
#include <limits>
#include <optional>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kAbsent = -1;

class DivergenceWatchTest : public ::testing::Test {
 protected:
  // Adds the record of the next step. kAbsent omits the metric from the record.
  void Step(double loss, double norm = kAbsent) {
    v1::MetricsRecord metrics;
    metrics.set_step(++step_);
    if (loss != kAbsent) (*metrics.mutable_values())["loss"] = loss;
    if (norm != kAbsent) (*metrics.mutable_values())["grad_norm"] = norm;
    if (data_wait_seconds_ > 0) {
      (*metrics.mutable_values())["data_stall_seconds"] = data_wait_seconds_;
    }
    watch_.Add(metrics, 1000 * step_);
  }

  DivergenceWatch watch_;
  int64_t step_ = 0;
  double data_wait_seconds_ = 0;
};

TEST_F(DivergenceWatchTest, ALossThatIsNotFiniteIsOneAtOnceAndUntilItIsFinite) {
  Step(2.5);
  EXPECT_FALSE(watch_.divergence().has_value());
  Step(kNan);
  Step(kInf);
  ASSERT_TRUE(watch_.divergence().has_value());
  EXPECT_EQ(watch_.divergence()->metric, "loss");
  EXPECT_EQ(watch_.divergence()->since_step, 2);
  EXPECT_EQ(watch_.divergence()->since_ms, 2000);
  Step(2.4);
  EXPECT_FALSE(watch_.divergence().has_value());
}

// Mixed precision with dynamic loss scaling skips steps with an infinite gradient norm.
TEST_F(DivergenceWatchTest, OneOrTwoInfiniteGradientNormsAreNone) {
  for (int i = 0; i < 5; ++i) {
    Step(2.5, kInf);
    Step(2.5, kInf);
    EXPECT_FALSE(watch_.divergence().has_value());
    Step(2.5, 1);
  }
  for (int i = 0; i < 3; ++i) Step(2.5, kNan);
  ASSERT_TRUE(watch_.divergence().has_value());
  EXPECT_EQ(watch_.divergence()->metric, "grad_norm");
  EXPECT_EQ(watch_.divergence()->since_step, 16);
}

// The reported loss is the mean of the iterations that had a finite loss.
TEST_F(DivergenceWatchTest, CountsOfNanIterationsThatGrowAreLikeNorms) {
  const auto count = [&](double nans) {
    v1::MetricsRecord metrics;
    metrics.set_step(++step_);
    (*metrics.mutable_values())["loss"] = 2.5;
    (*metrics.mutable_values())["number_of_nan_iterations"] = nans;
    watch_.Add(metrics, 1000 * step_);
    return watch_.divergence().has_value();
  };
  EXPECT_FALSE(count(0));
  EXPECT_FALSE(count(1));
  EXPECT_FALSE(count(2));
  EXPECT_TRUE(count(3));
  EXPECT_EQ(watch_.divergence()->metric, "loss");
  EXPECT_EQ(watch_.divergence()->since_step, 2);
  EXPECT_FALSE(count(3)) << "no further one";
}

TEST_F(DivergenceWatchTest, ARecordWithoutLossAndNormChangesNothing) {
  Step(kNan);
  Step(kAbsent);
  EXPECT_TRUE(watch_.divergence().has_value());
}

TEST_F(DivergenceWatchTest, FollowsTheClock) {
  Step(kNan);
  watch_.Shift(500);
  EXPECT_EQ(watch_.divergence()->since_ms, 1500);
}

TEST_F(DivergenceWatchTest, TenSpikesInARowAreADivergenceAndNineAreNot) {
  for (int spikes = 1; spikes < 10; ++spikes) {
    Step(9);
    watch_.AddSpikes(spikes, step_);
  }
  EXPECT_FALSE(watch_.divergence().has_value());
  Step(9);
  watch_.AddSpikes(10, step_);
  ASSERT_TRUE(watch_.divergence().has_value());
  EXPECT_EQ(watch_.divergence()->metric, "");
  EXPECT_EQ(watch_.divergence()->since_step, 1);
  EXPECT_EQ(watch_.divergence()->since_ms, 1000);
  Step(2);
  watch_.AddSpikes(0, step_);
  EXPECT_FALSE(watch_.divergence().has_value());
}

TEST_F(DivergenceWatchTest, TrainingWhileDivergingIsLost) {
  Step(2.5);
  Step(kNan);
  for (int i = 0; i < 30; ++i) Step(kNan);
  EXPECT_FALSE(watch_.lost().Unrecorded(0, LostPeriods::Scope::kComplete).has_value());
  Step(2.5);
  const auto lost = watch_.lost().Unrecorded(0, LostPeriods::Scope::kComplete);
  ASSERT_TRUE(lost.has_value());
  EXPECT_EQ(lost->lost_ms, 31'000) << "from the first NaN to the first finite loss";
  EXPECT_EQ(lost->until_ms, 33'000);
}

// The ledger counts the wait for data in a separate phase.
TEST_F(DivergenceWatchTest, AWaitForDataWhileDivergingIsNotLostTwice) {
  data_wait_seconds_ = 0.25;
  for (int i = 0; i < 11; ++i) Step(kNan);
  EXPECT_EQ(watch_.lost().Unrecorded(0, LostPeriods::Scope::kAll)->lost_ms, 10 * 750);
  data_wait_seconds_ = kInf;
  Step(kNan);
  EXPECT_EQ(watch_.lost().Unrecorded(0, LostPeriods::Scope::kAll)->lost_ms, 10 * 750);
}

TEST_F(DivergenceWatchTest, AStallWhileDivergingIsNotLostTwice) {
  for (int i = 0; i < 10; ++i) Step(kNan);
  step_ += 3600;
  Step(kNan);
  EXPECT_EQ(watch_.lost().Unrecorded(0, LostPeriods::Scope::kAll)->lost_ms, 9'000 + 5'000);
}

}  // namespace
}  // namespace trainyard::controller
