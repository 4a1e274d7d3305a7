#include "trainer/step/loss_scale.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proto/rules/loss_scale_rules.h"

namespace trainyard::trainer {
namespace {

TrainConfig Fp16(double initial, int64_t window, int64_t hysteresis) {
  TrainConfig train;
  train.precision = Precision::kFp16;
  train.initial_loss_scale = initial;
  train.loss_scale_window = window;
  train.hysteresis = hysteresis;
  return train;
}

// Returns the scale after each step. In `steps`, "." is a finite step and "x" an overflow.
std::vector<double> Scales(const TrainConfig& train, const std::string& steps) {
  LossScale state = ResumedLossScale(train, {});
  std::vector<double> scales;
  for (const char step : steps) {
    state = NextLossScale(train, state, step == '.');
    scales.push_back(state.scale);
  }
  return scales;
}

using Trace = std::vector<double>;

// The expected scales of these tests follow by hand from DynamicGradScaler::update of Megatron-LM
// (megatron/core/optimizer/grad_scaler.py).
TEST(LossScaleTest, OverflowsAtTheStartHalveTheScaleAfterTheHysteresis) {
  EXPECT_EQ(Scales(Fp16(64, 3, 2), "xxxx"), (Trace{64, 32, 16, 8}));
  EXPECT_EQ(Scales(Fp16(64, 3, 1), "xx"), (Trace{32, 16}));
  EXPECT_EQ(Scales(Fp16(64, 3, 3), "xxx"), (Trace{64, 64, 32}));
}

TEST(LossScaleTest, DoublesAfterAWindowOfGoodSteps) {
  EXPECT_EQ(Scales(Fp16(64, 3, 2), "......."), (Trace{64, 64, 128, 128, 128, 256, 256}));
  // An overflow restarts the window.
  EXPECT_EQ(Scales(Fp16(64, 3, 2), "..x..."), (Trace{64, 64, 64, 64, 64, 128}));
}

// Good steps do not restore the hysteresis before the scale doubles.
TEST(LossScaleTest, OnlyGrowthRestoresTheHysteresis) {
  EXPECT_EQ(Scales(Fp16(64, 3, 2), "x..x"), (Trace{64, 64, 64, 32}));
  EXPECT_EQ(Scales(Fp16(64, 3, 2), "x...x.x"), (Trace{64, 64, 64, 128, 128, 128, 64}));
}

TEST(LossScaleTest, TheScaleStaysAtTheLeast) {
  TrainConfig train = Fp16(8, 3, 1);
  train.min_loss_scale = 2;
  EXPECT_EQ(Scales(train, "xxxx..."), (Trace{4, 2, 2, 2, 2, 2, 4}));
}

TEST(LossScaleTest, CountsSkippedSteps) {
  const TrainConfig train = Fp16(64, 3, 2);
  LossScale state = ResumedLossScale(train, {});
  for (const bool is_finite : {false, true, false, false}) {
    state = NextLossScale(train, state, is_finite);
  }
  EXPECT_EQ(state, (LossScale{.scale = 16,
                              .good_steps = 0,
                              .hysteresis = -1,
                              .skipped_steps = 3,
                              .skipped_in_row = 2}));
}

TEST(LossScaleTest, TheDefaultsAreThoseOfMegatron) {
  TrainConfig train;
  train.precision = Precision::kFp16;
  const LossScale state = ResumedLossScale(train, {});
  EXPECT_EQ(state.scale, 4294967296.0);
  EXPECT_EQ(state.hysteresis, 2);
  EXPECT_EQ(train.loss_scale_window, 1000);
  EXPECT_EQ(train.min_loss_scale, 1);
}

TEST(LossScaleTest, AResumedRunHasTheScaleOfItsCheckpoint) {
  const TrainConfig train = Fp16(64, 3, 2);
  const LossScale stored{.scale = 4, .good_steps = 2, .hysteresis = 1, .skipped_steps = 9};
  EXPECT_EQ(ResumedLossScale(train, stored), stored);
  // A change of precision keeps only the number of skipped steps, which the schedule needs.
  const LossScale without = ResumedLossScale(TrainConfig{}, stored);
  EXPECT_EQ(without, (LossScale{.skipped_steps = 9}));
  EXPECT_EQ(ResumedLossScale(train, without),
            (LossScale{.scale = 64, .hysteresis = 2, .skipped_steps = 9}));
}

TEST(LossScaleTest, OtherPrecisionsHaveNoScale) {
  const TrainConfig train;
  EXPECT_EQ(NextLossScale(train, {}, false), LossScale{});
  EXPECT_FALSE(MaySkipStep(train, {}));
}

TEST(LossScaleTest, TheRunEndsAtTheLeastScaleOrAfterManySkippedSteps) {
  const TrainConfig train = Fp16(64, 3, 2);
  EXPECT_TRUE(MaySkipStep(train, {.scale = 2}));
  EXPECT_FALSE(MaySkipStep(train, {.scale = 1}));
  EXPECT_TRUE(MaySkipStep(train, {.scale = 64, .skipped_in_row = kMostSkippedInRow - 2}));
  EXPECT_FALSE(MaySkipStep(train, {.scale = 64, .skipped_in_row = kMostSkippedInRow - 1}));
}

}  // namespace
}  // namespace trainyard::trainer
