#include "trainer/optimizer/schedule.h"

#include <gtest/gtest.h>

#include "proto/rules/batch_plan.h"
#include "tests/trainer/optimizer/schedule_tables.h"

namespace trainyard::trainer {
namespace {

namespace tables = schedule_tables;

constexpr int64_t kBatch = 8;

// Uses the settings with which the tables were computed.
class ScheduleTest : public testing::Test {
 protected:
  ScheduleTest() {
    optimizer_.lr = 1e-3;
    optimizer_.min_lr = 1e-4;
    train_.steps = std::tuple_size_v<tables::Rates>;
    train_.seq_length = 16;
    train_.global_batch = kBatch;
    schedule_.warmup_steps = 6;
  }

  double AtSample(int64_t samples) const {
    return LearningRate(schedule_, optimizer_, SpansOf(train_, schedule_), samples);
  }

  double AtStep(int64_t step) const { return AtSample(BatchPlan(train_).SamplesThrough(step)); }

  void ExpectTable(ScheduleKind kind, const tables::Rates& rates) {
    schedule_.kind = kind;
    for (int64_t step = 1; step <= train_.steps; ++step) {
      EXPECT_DOUBLE_EQ(AtStep(step), rates[step - 1]) << "step " << step;
    }
  }

  TrainConfig train_;
  OptimizerConfig optimizer_;
  ScheduleConfig schedule_;
};

TEST_F(ScheduleTest, WholeRunsEqualTheFormulas) {
  ExpectTable(ScheduleKind::kConstant, tables::kConstant);
  ExpectTable(ScheduleKind::kLinear, tables::kLinear);
  ExpectTable(ScheduleKind::kCosine, tables::kCosine);
  ExpectTable(ScheduleKind::kInverseSquareRoot, tables::kInverseSquareRoot);
}

TEST_F(ScheduleTest, DecaysThatEndEarlierEqualTheFormulas) {
  schedule_.decay_steps = 30;
  ExpectTable(ScheduleKind::kLinear, tables::kEarlyLinear);
  ExpectTable(ScheduleKind::kCosine, tables::kEarlyCosine);
  ExpectTable(ScheduleKind::kInverseSquareRoot, tables::kEarlyInverseSquareRoot);
}

TEST_F(ScheduleTest, EveryStyleOfWsdEqualsItsFormula) {
  schedule_.decay_steps = 12;
  ExpectTable(ScheduleKind::kWsd, tables::kWsdLinear);
  schedule_.wsd_decay_style = WsdDecayStyle::kCosine;
  ExpectTable(ScheduleKind::kWsd, tables::kWsdCosine);
  schedule_.wsd_decay_style = WsdDecayStyle::kExponential;
  ExpectTable(ScheduleKind::kWsd, tables::kWsdExponential);
  schedule_.wsd_decay_style = WsdDecayStyle::kMinusSqrt;
  ExpectTable(ScheduleKind::kWsd, tables::kWsdMinusSqrt);
}

TEST_F(ScheduleTest, LengthsInSamplesTokensAndFractionsGiveTheSameRates) {
  schedule_.decay_steps = 12;
  ScheduleConfig samples, tokens, fractions;
  samples.warmup_samples = 6 * kBatch;
  samples.decay_samples = 12 * kBatch;
  tokens.warmup_tokens = 6 * kBatch * 16;
  tokens.decay_tokens = 12 * kBatch * 16;
  fractions.warmup_fraction = 6.0 / 40;
  fractions.decay_fraction = 12.0 / 40;
  for (const ScheduleConfig& schedule : {samples, tokens, fractions}) {
    schedule_ = schedule;
    ExpectTable(ScheduleKind::kWsd, tables::kWsdLinear);
  }
}

TEST_F(ScheduleTest, PeakAndMinimumAreExact) {
  for (const auto kind : {ScheduleKind::kLinear, ScheduleKind::kCosine, ScheduleKind::kWsd}) {
    schedule_.kind = kind;
    schedule_.decay_fraction = kind == ScheduleKind::kWsd ? 0.3 : 0;
    EXPECT_EQ(AtStep(6), 1e-3);
    EXPECT_EQ(AtStep(40), 1e-4);
  }
}

TEST_F(ScheduleTest, WithoutAWarmUpTheFirstStepHasThePeak) {
  schedule_ = {.kind = ScheduleKind::kInverseSquareRoot};
  EXPECT_EQ(AtStep(1), 1e-3);
  EXPECT_DOUBLE_EQ(AtStep(4), 0.5e-3);
  EXPECT_DOUBLE_EQ(AtStep(25), 0.2e-3);
}

// Returns settings whose steps have 4, 4, 4, 8, 8, 12, 16, ... samples.
TEST_F(ScheduleTest, TheRateOfAGrowingBatchFollowsTheSamples) {
  train_.global_batch = 16;
  train_.rampup_batch_start = train_.rampup_batch_increment = 4;
  train_.rampup_batch_samples = 36;
  schedule_ = {.kind = ScheduleKind::kLinear};
  schedule_.warmup_samples = 20;
  EXPECT_DOUBLE_EQ(AtStep(1), 1e-3 * 4 / 20);
  EXPECT_DOUBLE_EQ(AtStep(3), 1e-3 * 12 / 20);
  EXPECT_DOUBLE_EQ(AtStep(4), 1e-3);
  EXPECT_DOUBLE_EQ(AtStep(7), 1e-4 + 9e-4 * (1 - 36.0 / (40 + 34 * 16 - 20)));
  EXPECT_EQ(AtStep(40), 1e-4);
}

}  // namespace
}  // namespace trainyard::trainer
