#include "controller/core/observations/loss_watch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace trainyard::controller {
namespace {

v1::GuardSpec Rules(double ratio, double z_score) {
  v1::GuardSpec rules;
  rules.set_window(100);
  rules.set_min_points(10);
  rules.set_spike_ratio(ratio);
  rules.set_z_score(z_score);
  return rules;
}

// Adds `count` losses of attempt 1, starting at step `first`. The losses alternate by 0.1 around
// `level`.
void Fill(LossWatch& watch, const v1::GuardSpec& rules, int64_t first, int count, double level) {
  for (int i = 0; i < count; ++i) {
    const double loss = level + (i % 2 == 0 ? 0.1 : -0.1);
    EXPECT_FALSE(watch.Add(rules, 1, 0, first + i, loss).has_value()) << "step " << first + i;
  }
}

TEST(LossWatchTest, FindsNanAndInfinityWithoutAWindow) {
  const v1::GuardSpec rules = Rules(3, 10);
  for (const double loss : {std::nan(""), std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity()}) {
    LossWatch watch;
    const auto found = watch.Add(rules, 1, 0, 1, loss);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->trouble, LossProblem::kNotFinite);
  }
}

TEST(LossWatchTest, ComparesWithTheMeanFromTenLossesOn) {
  const v1::GuardSpec rules = Rules(3, 0);
  LossWatch watch;
  Fill(watch, rules, 1, 9, 2);
  EXPECT_FALSE(watch.Add(rules, 1, 0, 10, 100).has_value()) << "nine losses are too few";
  LossWatch full;
  Fill(full, rules, 1, 10, 2);
  EXPECT_FALSE(full.Add(rules, 1, 0, 11, 5.99).has_value());
  // The mean of the eleven losses is 2.3627.
  const auto found = full.Add(rules, 1, 0, 12, 7.2);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->trouble, LossProblem::kSpike);
  EXPECT_EQ(found->loss, 7.2);
  EXPECT_EQ(found->evidence, "the loss 7.2 is 3.0 times the mean (2.363) of the last 11 losses");
}

TEST(LossWatchTest, ComparesWithAMeanBelowOne) {
  const v1::GuardSpec rules = Rules(3, 0);
  LossWatch watch;
  Fill(watch, rules, 1, 10, 0.5);
  EXPECT_FALSE(watch.Add(rules, 1, 0, 11, 1.4).has_value());
  LossWatch other;
  Fill(other, rules, 1, 10, 0.5);
  EXPECT_TRUE(other.Add(rules, 1, 0, 11, 1.6).has_value());
}

// The losses are 1, 2, ..., 11: the median is 6, and the median absolute deviation is 3.
TEST(LossWatchTest, TheMedianOfAnOddNumberIsTheMiddleOne) {
  const v1::GuardSpec rules = Rules(0, 10);
  LossWatch watch;
  for (int64_t step = 1; step <= 11; ++step) {
    EXPECT_FALSE(watch.Add(rules, 1, 0, step, static_cast<double>(step)).has_value());
  }
  const auto found = watch.Add(rules, 1, 0, 12, 60);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(
      found->evidence,
      "the loss 60 is 12.1 robust standard deviations above the median (6) of the last 11 losses");
}

TEST(LossWatchTest, KeepsSpikesOutOfTheWindow) {
  const v1::GuardSpec rules = Rules(3, 0);
  LossWatch watch;
  Fill(watch, rules, 1, 10, 2);
  EXPECT_TRUE(watch.Add(rules, 1, 0, 11, 1e6).has_value());
  EXPECT_EQ(watch.size(), 10u);
  Fill(watch, rules, 12, 1, 2);
  EXPECT_TRUE(watch.Add(rules, 1, 0, 13, 6.5).has_value()) << "the mean is still 2";
}

TEST(LossWatchTest, FindsTheFirstOfSpikesInARow) {
  v1::GuardSpec rules = Rules(3, 0);
  rules.set_window(20);
  LossWatch watch;
  Fill(watch, rules, 1, 20, 2);
  EXPECT_TRUE(watch.Add(rules, 1, 0, 21, 8).has_value());
  for (int64_t step = 22; step <= 40; ++step) {
    EXPECT_FALSE(watch.Add(rules, 1, 0, step, 8).has_value());
  }
  // Once as many losses are high as the window holds, they count as the new normal level, and the
  // window is cleared.
  EXPECT_EQ(watch.size(), 0u);
  Fill(watch, rules, 41, 10, 8);
  EXPECT_TRUE(watch.Add(rules, 1, 0, 51, 30).has_value());
}

TEST(LossWatchTest, RobustScoreFindsWhatTheRatioMisses) {
  LossWatch watch;
  const v1::GuardSpec rules = Rules(3, 10);
  Fill(watch, rules, 1, 100, 2);
  // The median absolute deviation is 0.1 and the median is 2. Ten deviations correspond to a loss
  // of 2 + 1.48.
  EXPECT_FALSE(watch.Add(rules, 1, 0, 101, 3.4).has_value());
  const auto found = watch.Add(rules, 1, 0, 102, 3.7);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->trouble, LossProblem::kSpike);
  LossWatch by_ratio;
  Fill(by_ratio, Rules(3, 0), 1, 100, 2);
  EXPECT_FALSE(by_ratio.Add(Rules(3, 0), 1, 0, 101, 3.7).has_value());
}

TEST(LossWatchTest, EqualLossesHaveALeastSpread) {
  const v1::GuardSpec rules = Rules(0, 10);
  LossWatch watch;
  for (int64_t step = 1; step <= 50; ++step) watch.Add(rules, 1, 0, step, 2);
  EXPECT_FALSE(watch.Add(rules, 1, 0, 51, 2.19).has_value()) << "below 10 times 1 %";
  EXPECT_TRUE(watch.Add(rules, 1, 0, 52, 2.21).has_value());
}

// A model that has memorized its data has losses near 1e-8, which vary by large factors.
TEST(LossWatchTest, SmallRisesAreNoSpikes) {
  v1::GuardSpec rules = Rules(3, 10);
  rules.set_min_rise(0.01);
  LossWatch watch;
  for (int64_t step = 1; step <= 50; ++step) watch.Add(rules, 1, 0, step, 1e-8);
  EXPECT_FALSE(watch.Add(rules, 1, 0, 51, 9e-3).has_value());
  EXPECT_TRUE(watch.Add(rules, 1, 0, 52, 0.02).has_value());
}

// The losses follow the curve of a language model with normally distributed noise. No loss may be
// reported as a spike.
TEST(LossWatchTest, HealthyCurvesHaveNoSpikes) {
  const v1::GuardSpec rules = Rules(3, 10);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<double> noise(0, 0.15);
    LossWatch watch;
    for (int64_t step = 1; step <= 5000; ++step) {
      const double level = 1.8 + 9 / std::sqrt(static_cast<double>(step));
      const auto found = watch.Add(rules, 1, 0, step, level + noise(generator));
      ASSERT_FALSE(found.has_value()) << "seed " << seed << " step " << step << found->evidence;
    }
  }
}

TEST(LossWatchTest, IgnoresStepsSeenBeforeAndOlderAttempts) {
  const v1::GuardSpec rules = Rules(3, 10);
  LossWatch watch;
  Fill(watch, rules, 1, 20, 2);
  EXPECT_FALSE(watch.Add(rules, 1, 0, 20, std::nan("")).has_value()) << "received again";
  EXPECT_FALSE(watch.Add(rules, 2, 10, 11, 2).has_value());
  EXPECT_FALSE(watch.Add(rules, 1, 0, 21, std::nan("")).has_value()) << "of an older attempt";
}

// The first losses after a restart must not count
// as spikes relative to the last losses before it.
TEST(LossWatchTest, WindowEndsWhereAnAttemptResumed) {
  const v1::GuardSpec rules = Rules(3, 10);
  LossWatch watch;
  Fill(watch, rules, 1, 30, 2);
  EXPECT_FALSE(watch.Add(rules, 2, 0, 1, 11).has_value());
  EXPECT_EQ(watch.size(), 1u);
  LossWatch resumed;
  Fill(resumed, rules, 1, 30, 2);
  EXPECT_TRUE(resumed.Add(rules, 2, 20, 21, 11).has_value());
  EXPECT_EQ(resumed.size(), 20u);
}

TEST(LossWatchTest, RecoversTheWindowOfBeforeARestart) {
  const v1::GuardSpec rules = Rules(3, 0);
  std::vector<std::pair<int64_t, double>> stored;
  for (int64_t step = 1; step <= 30; ++step) stored.emplace_back(step, 2.0);
  LossWatch watch;
  watch.Add(rules, 1, 0, 31, 2);
  watch.Recover(rules, 1, stored);
  EXPECT_EQ(watch.size(), 31u);
  EXPECT_FALSE(watch.Add(rules, 1, 0, 31, 9).has_value()) << "received again";
  EXPECT_TRUE(watch.Add(rules, 1, 0, 32, 9).has_value());
  LossWatch later;
  later.Recover(rules, 1, stored);
  EXPECT_FALSE(later.Add(rules, 2, 0, 1, 11).has_value()) << "a newer attempt from the start";
}

// Adds twenty losses of size `level`, then `loss`. Returns true if `loss` is found to be a spike.
bool IsFound(const v1::GuardSpec& rules, double level, double loss) {
  LossWatch watch;
  for (int64_t step = 1; step <= 20; ++step) {
    EXPECT_FALSE(watch.Add(rules, 1, 0, step, level).has_value()) << step;
  }
  return watch.Add(rules, 1, 0, 21, loss).has_value();
}

TEST(LossWatchTest, ASpikeIsAboveTheRatioAndRisesByTheLeastRiseOrMore) {
  v1::GuardSpec rules = Rules(3, 0);
  EXPECT_FALSE(IsFound(rules, 2, 6)) << "3 times the mean";
  EXPECT_TRUE(IsFound(rules, 2, 6.5));
  rules.set_min_rise(6);
  EXPECT_FALSE(IsFound(rules, 2, 7.5)) << "a rise of 5.5";
  EXPECT_TRUE(IsFound(rules, 2, 8)) << "a rise of 6";
}

TEST(LossWatchTest, NothingIsAMultipleOfAMeanOfZero) { EXPECT_FALSE(IsFound(Rules(3, 0), 0, 5)); }

TEST(LossWatchTest, TheScoreNeedsASpreadAndALossAboveIt) {
  v1::GuardSpec rules = Rules(0, 1);
  EXPECT_TRUE(IsFound(rules, 2, 2.5)) << "the least spread is 0.02";
  EXPECT_FALSE(IsFound(rules, 0, 5)) << "losses of 0 have no spread";
  rules.set_min_rise(1);
  EXPECT_FALSE(IsFound(rules, 2, 3)) << "a rise of 1";
  EXPECT_TRUE(IsFound(rules, 2, 3.5));
}

TEST(LossWatchTest, ALossThatIsStoredAndWatchedCountsOnce) {
  const v1::GuardSpec rules = Rules(3, 0);
  LossWatch watch;
  watch.Add(rules, 1, 0, 3, 2);
  watch.Recover(rules, 1, {{1, 2.0}, {2, 2.0}, {3, 2.0}});
  EXPECT_EQ(watch.size(), 3u);
}

TEST(LossWatchTest, CountsSpikesUntilTheLossIsBackAtItsLevel) {
  const v1::GuardSpec rules = Rules(3, 0);
  LossWatch watch;
  Fill(watch, rules, 1, 20, 2);
  EXPECT_EQ(watch.spikes_in_a_row(), 0);
  int64_t step = 20;
  // After a window of spikes, the guard compares with the new level, but the run is still bad.
  for (int i = 1; i <= 250; ++i) {
    watch.Add(rules, 1, 0, ++step, 9);
    ASSERT_GE(watch.spikes_in_a_row(), std::min(i, 100)) << i;
  }
  watch.Add(rules, 1, 0, ++step, 5);
  EXPECT_EQ(watch.spikes_in_a_row(), 0);
}

// A new level below spike_ratio is accepted, for example after a change of the data.
TEST(LossWatchTest, AcceptsANewLevelThatOnlyTheSpreadForbids) {
  const v1::GuardSpec rules = Rules(3, 10);
  LossWatch watch;
  Fill(watch, rules, 1, 100, 2);
  int64_t step = 100;
  for (int i = 0; i < 100; ++i) watch.Add(rules, 1, 0, ++step, 4.5);
  EXPECT_EQ(watch.spikes_in_a_row(), 0);
}

TEST(LossWatchTest, ANewAttemptBeginsWithoutSpikes) {
  const v1::GuardSpec rules = Rules(3, 0);
  LossWatch watch;
  Fill(watch, rules, 1, 20, 2);
  for (int64_t step = 21; step < 200; ++step) watch.Add(rules, 1, 0, step, 9);
  watch.Add(rules, 2, 20, 21, 2);
  EXPECT_EQ(watch.spikes_in_a_row(), 0);
}

}  // namespace
}  // namespace trainyard::controller
