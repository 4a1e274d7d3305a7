#include "trainer/step/gradient_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/trainer/step/layout_run.h"

namespace trainyard::trainer {
namespace {

TEST(GradientNoiseTest, SolvesForGradientAndNoise) {
  // Batches of 4 and 16 samples would give these squares if |G|^2 = 3 and tr(Sigma) = 20.
  const NoiseEstimate estimate = EstimateNoise({.small_squares = 3 + 20.0 / 4,
                                                .big_squares = 3 + 20.0 / 16,
                                                .small_samples = 4,
                                                .big_samples = 16});
  EXPECT_DOUBLE_EQ(estimate.gradient, 3);
  EXPECT_DOUBLE_EQ(estimate.trace, 20);
}

// The gradient of a sample is g + noise. Element i of the noise has a variance of i / 10.
TEST(GradientNoiseTest, FindsKnownNoise) {
  constexpr int64_t kElements = 40, kSmall = 2, kBig = 8, kSteps = 3000;
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  double gradient = 0, trace = 0;
  for (int64_t i = 0; i < kElements; ++i) {
    gradient += std::pow(std::sin(static_cast<double>(i)), 2);
    trace += static_cast<double>(i) / 10;
  }
  NoiseEstimate sum;
  NoiseScaleAverage average;
  for (int64_t step = 0; step < kSteps; ++step) {
    BatchGradients batches{.small_samples = kSmall, .big_samples = kBig};
    for (int64_t i = 0; i < kElements; ++i) {
      double small = 0, big = 0;
      for (int64_t sample = 0; sample < kBig; ++sample) {
        const double value = std::sin(static_cast<double>(i)) +
                             std::sqrt(static_cast<double>(i) / 10) * normal(random);
        big += value / kBig;
        if (sample < kSmall) small += value / kSmall;
      }
      batches.small_squares += small * small;
      batches.big_squares += big * big;
    }
    const NoiseEstimate estimate = EstimateNoise(batches);
    sum.gradient += estimate.gradient / kSteps;
    sum.trace += estimate.trace / kSteps;
    average.Add(estimate);
  }
  EXPECT_NEAR(sum.gradient / gradient, 1, 0.03);
  EXPECT_NEAR(sum.trace / trace, 1, 0.03);
  EXPECT_NEAR(average.Scale().value() / (trace / gradient), 1, 0.2);
}

TEST(GradientNoiseTest, HasNoScaleWhileTheGradientIsLostInNoise) {
  NoiseScaleAverage average;
  EXPECT_FALSE(average.Scale().has_value());
  average.Add({.gradient = -1, .trace = 5});
  EXPECT_FALSE(average.Scale().has_value());
  for (int i = 0; i < 10; ++i) average.Add({.gradient = 2, .trace = 6});
  EXPECT_GT(average.Scale().value(), 3);
}

RunConfig Measured() {
  RunConfig config = SmallRun();
  config.train.gradient_noise_scale = true;
  return config;
}

void ExpectEqualBatches(const RunConfig& config, const LayoutRun& reference,
                        const std::string& what) {
  const LayoutRun run = RunLayout(config, static_cast<int64_t>(reference.steps.size()));
  EXPECT_EQ(run.faults, std::vector<std::string>()) << what;
  for (size_t i = 0; i < reference.steps.size(); ++i) {
    const BatchGradients &mine = run.steps[i].batches.value(),
                         &theirs = reference.steps[i].batches.value();
    EXPECT_NEAR(mine.small_squares / theirs.small_squares, 1, 1e-4) << what << ", step " << i;
    EXPECT_NEAR(mine.big_squares / theirs.big_squares, 1, 1e-4) << what << ", step " << i;
    EXPECT_EQ(mine.small_samples, theirs.small_samples);
    EXPECT_EQ(mine.big_samples, theirs.big_samples);
  }
}

TEST(SmallBatchTest, IsTheFirstMicroBatch) {
  const LayoutRun run = RunLayout(Measured(), 1);
  RunConfig first = SmallRun();
  first.train.global_batch = 1;
  const double norm = RunLayout(first, 1).steps[0].grad_norm;
  const BatchGradients& batches = run.steps[0].batches.value();
  EXPECT_NEAR(batches.small_squares / (norm * norm), 1, 1e-5);
  EXPECT_NEAR(std::sqrt(batches.big_squares) / run.steps[0].grad_norm, 1, 1e-9);
  EXPECT_EQ(batches.small_samples, 1);
  EXPECT_EQ(batches.big_samples, 8);
  EXPECT_GT(EstimateNoise(batches).trace, 0);
}

// Covers layouts with one and with two data-parallel ranks.
TEST(SmallBatchTest, IsTheSameOnEveryLayout) {
  for (const bool is_tied : {false, true}) {
    RunConfig config = Measured();
    config.model.untie_embeddings_and_output_weights = !is_tied;
    const LayoutRun reference = RunLayout(config, 3);
    RunConfig layout = config;
    layout.layout.tp = layout.layout.pp = 2;
    ExpectEqualBatches(layout, reference, "TP2 x PP2");
    layout = config;
    layout.layout.tp = 4;
    ExpectEqualBatches(layout, reference, "TP4, key heads shared");
    layout = config;
    layout.layout.cp = 2;
    layout.layout.zero = 3;
    ExpectEqualBatches(layout, reference, "CP2 x ZeRO 3");
    layout.layout.pp = 2;
    layout.layout.vpp = 2;
    layout.layout.zero = 2;
    ExpectEqualBatches(layout, reference, "CP2 x PP2 interleaved x ZeRO 2");
  }
  RunConfig config = Measured();
  config.layout.dp = 2;
  const LayoutRun reference = RunLayout(config, 3);
  for (int64_t zero = 1; zero <= 3; ++zero) {
    config.layout.zero = zero;
    ExpectEqualBatches(config, reference, "DP2, ZeRO " + std::to_string(zero));
  }
  config.layout.tp = 2;
  config.layout.pp = 2;
  ExpectEqualBatches(config, reference, "TP2 x PP2 x ZeRO 3");
}

TEST(SmallBatchTest, MeasuringChangesNoBitOfTheTraining) {
  RunConfig config = SmallRun();
  config.layout.tp = 2;
  const LayoutRun plain = RunLayout(config, 3);
  config.train.gradient_noise_scale = true;
  config.train.gradient_log_interval = 1;
  const LayoutRun measured = RunLayout(config, 3);
  EXPECT_EQ(DistanceOf(measured.weights, plain.weights).value, 0);
}

TEST(SmallBatchTest, AStepOfOneMicroBatchHasNone) {
  RunConfig config = Measured();
  config.layout.micro_batch = 8;
  EXPECT_FALSE(RunLayout(config, 1).steps[0].batches.has_value());
}

}  // namespace
}  // namespace trainyard::trainer
