#include "proto/rules/batch_plan.h"

#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <random>

#include "tests/proto/rules/rampup_tables.h"

namespace trainyard {
namespace {

TrainConfig Rampup(int64_t start, int64_t increment, int64_t samples, int64_t global_batch) {
  TrainConfig train;
  train.seq_length = 16;
  train.global_batch = global_batch;
  train.rampup_batch_start = start;
  train.rampup_batch_increment = increment;
  train.rampup_batch_samples = samples;
  return train;
}

// Returns the batch after this number of samples by evaluating the formula in the header step by
// step.
int64_t BatchAfter(const TrainConfig& train, int64_t samples) {
  if (samples >= train.rampup_batch_samples) return train.global_batch;
  const int64_t increments =
      (train.global_batch - train.rampup_batch_start) / train.rampup_batch_increment;
  return train.rampup_batch_start +
         samples * increments / train.rampup_batch_samples * train.rampup_batch_increment;
}

TEST(BatchPlanTest, AConstantBatchIsAMultiplication) {
  TrainConfig train;
  train.global_batch = 8;
  const BatchPlan plan(train);
  EXPECT_EQ(plan.OfStep(1), (StepSamples{0, 8}));
  EXPECT_EQ(plan.OfStep(1000), (StepSamples{7992, 8}));
  EXPECT_EQ(plan.SamplesThrough(0), 0);
  EXPECT_EQ(plan.SamplesThrough(5), 40);
  EXPECT_EQ(plan.StepsFor(0), 0);
  EXPECT_EQ(plan.StepsFor(8), 1);
  EXPECT_EQ(plan.StepsFor(9), 2);
}

// A step that begins before sample 12, 24 or 36 has a batch of 4, 8 or 12; later steps have 16.
// There are 12 samples after 3 steps, 28 after 5, and 40 after 6.
TEST(BatchPlanTest, GrowsInEqualIncrements) {
  const BatchPlan plan(Rampup(4, 4, 36, 16));
  const std::vector<int64_t> expected = {4, 4, 4, 8, 8, 12, 16, 16};
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(plan.OfStep(static_cast<int64_t>(i) + 1).count, expected[i]) << "step " << i + 1;
  }
}

TEST(BatchPlanTest, StagesShorterThanAStepAreLeftOut) {
  const BatchPlan plan(Rampup(8, 8, 7, 64));
  EXPECT_EQ(plan.OfStep(1), (StepSamples{0, 8}));
  EXPECT_EQ(plan.OfStep(2), (StepSamples{8, 64}));
}

TEST(BatchPlanTest, StepsAreTheFormulaAndHaveAllSamplesInOrder) {
  std::mt19937 random(3);
  const auto pick = [&random](int64_t below) { return static_cast<int64_t>(random() % below); };
  for (int i = 0; i < 300; ++i) {
    const int64_t start = 1 + pick(9), increment = 1 + pick(5);
    const TrainConfig train =
        Rampup(start, increment, 1 + pick(2000), start + increment * (1 + pick(12)));
    const BatchPlan plan(train);
    int64_t next = 0;
    for (int64_t step = 1; step <= 300; ++step) {
      const StepSamples samples = plan.OfStep(step);
      ASSERT_EQ(samples, (StepSamples{next, BatchAfter(train, next)})) << "step " << step;
      next += samples.count;
      ASSERT_EQ(plan.SamplesThrough(step), next);
      ASSERT_EQ(plan.StepOfSample(samples.first), step);
      ASSERT_EQ(plan.StepOfSample(next - 1), step);
      ASSERT_EQ(plan.StepsFor(next), step);
      ASSERT_EQ(plan.StepsFor(next + 1), step + 1);
    }
  }
}

// Checks the batch of each stage. A stage ends before the first step of the next stage; the last
// stage has no end.
void ExpectStages(const rampup_tables::Settings& settings, const rampup_tables::Stage* stages,
                  size_t count) {
  const BatchPlan plan(
      Rampup(settings.start, settings.increment, settings.samples, settings.final_batch));
  for (size_t i = 0; i < count; ++i) {
    const rampup_tables::Stage& stage = stages[i];
    EXPECT_EQ(plan.OfStep(stage.first_step), (StepSamples{stage.first_sample, stage.batch})) << i;
    const int64_t last = i + 1 < count ? stages[i + 1].first_step - 1 : stage.first_step + 1000;
    EXPECT_EQ(plan.OfStep(last).count, stage.batch) << i;
  }
  EXPECT_EQ(stages[count - 1].batch, settings.final_batch);
}

TEST(BatchPlanTest, WholeRunsEqualMegatronsFormula) {
  namespace tables = rampup_tables;
  ExpectStages(tables::kGpt3Settings, tables::kGpt3, std::size(tables::kGpt3));
  ExpectStages(tables::kLargeSettings, tables::kLarge, std::size(tables::kLarge));
  ExpectStages(tables::kShortSettings, tables::kShort, std::size(tables::kShort));
  ExpectStages(tables::kUnevenSettings, tables::kUneven, std::size(tables::kUneven));
}

TEST(BatchPlanTest, NumbersThatDoNotFitEndAtTheLargest) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  TrainConfig train;
  train.global_batch = 16777216;
  EXPECT_EQ(BatchPlan(train).SamplesThrough(1'000'000'000'000), kMax);
  EXPECT_EQ(BatchPlan(Rampup(1, 1, kMax, 10)).OfStep(1).count, 1);
  EXPECT_EQ(BatchPlan(Rampup(kMax - 1, 1, kMax, kMax)).OfStep(3).count, kMax);
}

TEST(BatchPlanTest, IllegalSettingsGiveNoRampup) {
  for (const TrainConfig& train :
       {Rampup(0, 4, 36, 16), Rampup(4, 0, 36, 16), Rampup(4, 4, 0, 16), Rampup(16, 4, 36, 16),
        Rampup(4, 5, 36, 16), Rampup(-4, 4, 36, 16), Rampup(1, 1, 36, 1 << 20)}) {
    EXPECT_EQ(BatchPlan(train).OfStep(1), (StepSamples{0, train.global_batch}));
  }
}

TEST(BatchPlanTest, ASingleSettingIsARampup) {
  EXPECT_FALSE(HasRampup(TrainConfig{}));
  EXPECT_TRUE(HasRampup(Rampup(0, 0, 1, 8)));
}

}  // namespace
}  // namespace trainyard
