#include "controller/core/observations/rate_watch.h"

#include <cmath>
#include <functional>
#include <limits>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using RateSchedule = std::function<double(int64_t step)>;

constexpr double kPi = 3.14159265358979;

// A warm-up of 100 steps, followed by a cosine to a tenth of the peak.
RateSchedule Cosine(int64_t steps) {
  return [=](int64_t step) {
    if (step < 100) return 3e-4 * static_cast<double>(step) / 100;
    const double part = static_cast<double>(step - 100) / static_cast<double>(steps - 100);
    return 3e-5 + 2.7e-4 * (1 + std::cos(kPi * part)) / 2;
  };
}

class RateWatchTest : public ::testing::Test {
 protected:
  // Reports steps from + distance, from + 2 * distance, ..., to of an attempt. Returns the change.
  std::optional<RateChange> Train(int64_t attempt, int64_t from, int64_t to,
                                  const RateSchedule& schedule, int64_t distance = 1,
                                  double factor = 1) {
    std::optional<RateChange> found;
    for (int64_t step = from + distance; step <= to; step += distance) {
      const auto change = watch_.Add({attempt, from, factor}, step, schedule(step));
      EXPECT_FALSE(change.has_value() && found.has_value()) << "a change is found once";
      if (change.has_value()) found = change;
    }
    return found;
  }

  RateWatch watch_;
};

TEST_F(RateWatchTest, AContinuedScheduleIsNoChange) {
  for (const int64_t distance : {1, 10}) {
    watch_ = RateWatch();
    const RateSchedule schedule = Cosine(10'000);
    EXPECT_FALSE(Train(1, 0, 4100, schedule, distance).has_value());
    EXPECT_FALSE(Train(2, 4000, 5000, schedule, distance).has_value()) << "repeated steps";
    EXPECT_FALSE(Train(3, 5000, 5200, schedule, distance).has_value()) << "no repeated step";
    EXPECT_FALSE(Train(4, 50, 300, schedule, distance).has_value()) << "within the warm-up";
    EXPECT_FALSE(Train(5, 100, 300, schedule, distance).has_value()) << "at the peak";
  }
}

TEST_F(RateWatchTest, TheEndOfAWarmUpBetweenTwoAttemptsIsNoChange) {
  EXPECT_FALSE(Train(1, 0, 100, Cosine(10'000)).has_value());
  EXPECT_FALSE(Train(2, 100, 120, Cosine(10'000)).has_value());
}

TEST_F(RateWatchTest, ALongerScheduleIsAChangeWithBothRates) {
  Train(1, 0, 1000, Cosine(1000));
  const auto change = Train(2, 1000, 1100, Cosine(3000));
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->step, 1000);
  EXPECT_NEAR(change->before, 3e-5, 1e-7);
  EXPECT_NEAR(change->after, Cosine(3000)(1001), 1e-12);
}

TEST_F(RateWatchTest, RepeatedStepsAreComparedAtTheSameStep) {
  Train(1, 0, 500, Cosine(1000), 10);
  const auto change = Train(2, 200, 300, Cosine(2000), 10);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->step, 200);
  EXPECT_NEAR(change->before, Cosine(1000)(210), 1e-12);
  EXPECT_NEAR(change->after, Cosine(2000)(210), 1e-12);
}

TEST_F(RateWatchTest, AProgramThatChoosesItsCheckpointShowsTheStep) {
  Train(1, 0, 500, Cosine(1000), 10);
  std::optional<RateChange> change;
  for (const int64_t step : {410, 420}) change = watch_.Add({2, 0, 1}, step, 1e-5);
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->step, 400);
}

TEST_F(RateWatchTest, AFreshStartIsNoResume) {
  Train(1, 0, 500, Cosine(1000));
  EXPECT_FALSE(Train(2, 0, 100, [](int64_t) { return 1.0; }).has_value());
}

TEST_F(RateWatchTest, OneOddRateIsNoChange) {
  Train(1, 0, 500, Cosine(1000));
  const auto with_zero = [](int64_t step) { return step == 501 ? 0 : Cosine(1000)(step); };
  EXPECT_FALSE(Train(2, 500, 600, with_zero).has_value());
}

TEST_F(RateWatchTest, AnAttemptWithoutStepsHidesNothing) {
  Train(1, 0, 500, Cosine(1000));
  Train(2, 500, 501, Cosine(1000));
  EXPECT_TRUE(Train(3, 500, 600, [](int64_t) { return 1e-5; }).has_value());
}

TEST_F(RateWatchTest, TheFactorOfTheLossGuardIsNoChange) {
  Train(1, 0, 500, Cosine(1000));
  const auto halved = [](int64_t step) { return Cosine(1000)(step) / 2; };
  EXPECT_FALSE(Train(2, 300, 400, halved, 1, 0.5).has_value());
  EXPECT_FALSE(Train(3, 350, 450, halved, 1, 0.5).has_value());
  EXPECT_FALSE(Train(4, 440, 460, Cosine(1000), 1, 1).has_value());
}

TEST_F(RateWatchTest, AProgramMayIgnoreTheFactor) {
  Train(1, 0, 500, Cosine(1000));
  EXPECT_FALSE(Train(2, 300, 400, Cosine(1000), 1, 0.5).has_value());
}

TEST_F(RateWatchTest, RatesThatAreNotFiniteAndOlderAttemptsAreIgnored) {
  Train(1, 0, 500, Cosine(1000));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(Train(2, 500, 510, [=](int64_t) { return nan; }).has_value());
  EXPECT_FALSE(Train(2, 510, 600, Cosine(1000)).has_value());
  EXPECT_FALSE(watch_.Add({1, 400, 1}, 700, 1).has_value());
  EXPECT_FALSE(watch_.Add({1, 400, 1}, 701, 1).has_value());
}

TEST_F(RateWatchTest, ContinuesTheRunOfAnotherJob) {
  Train(1, 0, 20, [](int64_t) { return 6e-4; });
  const RateWatch other = watch_;
  watch_ = RateWatch();
  watch_.ContinueFrom(other);
  const auto change = Train(1, 20, 60, [](int64_t) { return 4.6e-4; });
  ASSERT_TRUE(change.has_value());
  EXPECT_EQ(change->step, 20);
  EXPECT_EQ(change->before, 6e-4);
  EXPECT_EQ(change->after, 4.6e-4);
}

// The stored rates arrive after the first records of the restarted controller.
TEST_F(RateWatchTest, StoredRatesAreMergedWithThoseOfTheSameAttempt) {
  RateCurve stored;
  for (int64_t step = 1; step <= 500; ++step) stored.Add({step, Cosine(1000)(step)});
  EXPECT_FALSE(Train(1, 505, 600, Cosine(1000)).has_value()) << "nothing to compare with";
  watch_.Recover(1, stored);
  const auto change = Train(2, 550, 600, [](int64_t) { return 1.0; });
  ASSERT_TRUE(change.has_value());
  EXPECT_NEAR(change->before, Cosine(1000)(551), 1e-6);
  EXPECT_TRUE(watch_.Run().At(300).has_value());
}

TEST_F(RateWatchTest, StoredRatesOfAnEarlierAttemptAreCompared) {
  RateCurve stored;
  for (int64_t step = 1; step <= 500; ++step) stored.Add({step, 1e-4});
  EXPECT_FALSE(watch_.Add({2, 500, 1}, 501, 2e-4).has_value());
  watch_.Recover(1, stored);
  EXPECT_TRUE(watch_.Add({2, 500, 1}, 502, 2e-4).has_value());
}

}  // namespace
}  // namespace trainyard::controller
