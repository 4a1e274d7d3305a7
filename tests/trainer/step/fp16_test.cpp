// Trains in fp16 with any layout, and with gradients that overflow on one rank only.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/trainer/model/family_settings.h"
#include "tests/trainer/step/layout_run.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr int64_t kFp16Steps = 20;

// A scale at which the small model's gradients neither overflow nor underflow in fp16.
RunConfig Fp16Run() {
  RunConfig config = SmallRun();
  config.resources.device = DeviceKind::kCpu;  // Without fused attention.
  config.train.precision = Precision::kFp16;
  config.train.initial_loss_scale = 1024;
  config.optimizer.clip_grad = 1;
  return config;
}

// Four experts with a balance loss per micro-batch and a z loss.
RunConfig WithExperts(RunConfig config) {
  MakeMixtral(config.model);
  config.layout.etp = 1;
  config.model.moe_aux_loss_coeff = 0.1;
  config.model.moe_z_loss_coeff = 0.01;
  return config;
}

// Eight experts with a bias that moves after each step.
RunConfig BiasedExperts(RunConfig config) {
  MakeDeepSeekMoe(config.model);
  config.layout.etp = 1;
  return config;
}

void ExpectEqual(const LogicalTensors& tensors, const LogicalTensors& expected) {
  ASSERT_EQ(tensors.tensors().size(), expected.tensors().size());
  for (const auto& [name, tensor] : expected.tensors()) {
    EXPECT_TRUE(tensors.tensors().at(name).equal(tensor)) << name;
  }
}

double RelativeError(double value, double expected) { return std::abs(value / expected - 1); }

struct Fp16Case {
  const char* name;
  void (*edit)(RunConfig&);
};

void PrintTo(const Fp16Case& layout, std::ostream* out) { *out << layout.name; }

class Fp16LayoutTest : public ::testing::TestWithParam<Fp16Case> {};

// An fp16 number has 11 significant bits, so a rounding error is at most 2^-11 = 4.9e-4.
TEST_P(Fp16LayoutTest, FollowsFp32) {
  RunConfig config = Fp16Run();
  GetParam().edit(config);
  RunConfig alone = SmallRun();
  alone.model = config.model;
  alone.layout.micro_batch = config.layout.micro_batch;
  alone.optimizer = config.optimizer;
  const LayoutRun run = RunLayout(config, kFp16Steps), exact = RunLayout(alone, kFp16Steps);
  EXPECT_EQ(run.faults, std::vector<std::string>());
  EXPECT_EQ(run.loss_scale.skipped_steps, 0);
  for (int64_t step = 0; step < kFp16Steps; ++step) {
    EXPECT_LT(RelativeError(run.steps[step].loss, exact.steps[step].loss), 2e-3)
        << "step " << step + 1;
  }
  EXPECT_LT(RelativeError(run.steps[0].grad_norm, exact.steps[0].grad_norm), 5e-3);
  EXPECT_LT(run.steps.back().loss, run.steps.front().loss);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Fp16LayoutTest,
    ::testing::Values(Fp16Case{"one process", [](RunConfig&) {}},
                      Fp16Case{"TP2+SP x PP2", [](RunConfig& c) { c.layout.tp = c.layout.pp = 2; }},
                      Fp16Case{"CP2 x ZeRO 3",
                               [](RunConfig& c) {
                                 c.layout.cp = 2;
                                 c.layout.zero = 3;
                               }},
                      Fp16Case{"ZeRO 1 x2",
                               [](RunConfig& c) {
                                 c.layout.dp = 2;
                                 c.layout.zero = 1;
                               }},
                      Fp16Case{"ZeRO 2 x2, PP2",
                               [](RunConfig& c) {
                                 c.layout.dp = c.layout.pp = 2;
                                 c.layout.zero = 2;
                               }},
                      Fp16Case{"GPT-2, TP2",
                               [](RunConfig& c) {
                                 c.layout.tp = 2;
                                 MakeGpt2(c.model, c.train.seq_length + 3);
                               }},
                      Fp16Case{"Mixtral, DP2", [](RunConfig& c) {
                                 c.layout.dp = 2;
                                 c = WithExperts(c);
                               }}));

// A power of two changes no bit of fp32 gradients that neither overflow nor underflow.
TEST(LossScaleRunTest, AScaleChangesNoBitInFp32) {
  RunConfig config = SmallRun();
  config.optimizer.clip_grad = 0.1;
  config.optimizer.adaptive_clip = 0.05;
  config.train.gradient_noise_scale = true;
  config.train.gradient_log_interval = 1;
  for (const RunConfig& of : {config, WithExperts(config)}) {
    LayoutMachine scaled;
    scaled.loss_scale = 4096;
    const LayoutRun plain = RunLayout(of, 3), run = RunLayout(of, 3, false, scaled);
    ExpectEqual(run.weights, plain.weights);
    ExpectEqual(run.first_moments, plain.first_moments);
    for (size_t step = 0; step < plain.steps.size(); ++step) {
      const StepResult &result = run.steps[step], &expected = plain.steps[step];
      EXPECT_EQ(result.loss, expected.loss);
      EXPECT_DOUBLE_EQ(result.grad_norm, expected.grad_norm);
      EXPECT_EQ(result.clipped_units, expected.clipped_units);
      ASSERT_EQ(result.part_norms.size(), expected.part_norms.size());
      for (size_t part = 0; part < expected.part_norms.size(); ++part) {
        EXPECT_DOUBLE_EQ(result.part_norms[part], expected.part_norms[part]);
      }
      EXPECT_DOUBLE_EQ(result.batches->small_squares, expected.batches->small_squares);
      EXPECT_DOUBLE_EQ(result.batches->big_squares, expected.batches->big_squares);
    }
  }
}

// Adds an infinite gradient on one rank before the last micro-batch of a step, to an element that
// this rank counts in the gradient norm.
LayoutMachine Overflowing(int64_t rank, int64_t step, int64_t last_batch) {
  LayoutMachine machine;
  machine.before_batch = [=](const BatchPlace& place, ParameterStore& store) {
    if (place.rank != rank || place.step != step || place.batch != last_batch) return;
    for (int64_t group = 0; group < static_cast<int64_t>(store.groups().size()); ++group) {
      if (store.groups()[group].counted.empty()) continue;
      const int64_t first = store.groups()[group].counted.front().first;
      store.Gradients(group, {first, 1}).fill_(std::numeric_limits<float>::infinity());
      return;
    }
  };
  return machine;
}

class OverflowTest : public ::testing::TestWithParam<Fp16Case> {};

TEST_P(OverflowTest, OfOneRankSkipsTheStepOnAllRanks) {
  RunConfig config = BiasedExperts(Fp16Run());
  GetParam().edit(config);
  const int64_t ranks = RanksOf(config.layout);
  const int64_t batches =
      config.train.global_batch / (config.layout.micro_batch * config.layout.dp);
  const LayoutRun before = RunLayout(config, 2);
  const LayoutRun run =
      RunLayout(config, 3, false, Overflowing(ranks - 1, /*step=*/3, batches - 1));
  EXPECT_EQ(run.faults, std::vector<std::string>());
  EXPECT_TRUE(run.steps[1].is_finite);
  EXPECT_FALSE(run.steps[2].is_finite);
  EXPECT_TRUE(std::isfinite(run.steps[2].loss));
  ExpectEqual(run.weights, before.weights);
  ExpectEqual(run.first_moments, before.first_moments);
  ExpectEqual(run.second_moments, before.second_moments);
  EXPECT_GT(before.expert_bias.abs().max().item<float>(), 0);
  EXPECT_TRUE(run.expert_bias.equal(before.expert_bias));
  EXPECT_EQ(run.loss_scale, (LossScale{.scale = 1024,
                                       .good_steps = 0,
                                       .hysteresis = 1,
                                       .skipped_steps = 1,
                                       .skipped_in_row = 1}));
}

INSTANTIATE_TEST_SUITE_P(Layouts, OverflowTest,
                         ::testing::Values(Fp16Case{"DP2", [](RunConfig& c) { c.layout.dp = 2; }},
                                           Fp16Case{"TP2", [](RunConfig& c) { c.layout.tp = 2; }},
                                           Fp16Case{"PP2", [](RunConfig& c) { c.layout.pp = 2; }}));

// AdamW's bias correction makes the first update about as large as the learning rate. The
// correction must treat the step after a skipped first step as the first step.
TEST(OverflowStepTest, IsNotCountedByTheBiasCorrection) {
  RunConfig config = Fp16Run();
  config.optimizer.weight_decay = 0;
  const LayoutRun start = RunLayout(config, 0);
  const LayoutRun run = RunLayout(config, 2, false, Overflowing(0, /*step=*/1, 7));
  ASSERT_FALSE(run.steps[0].is_finite);
  ASSERT_TRUE(run.steps[1].is_finite);
  const std::string norm = "model.norm.weight";
  const Tensor change = run.weights.tensors().at(norm).to(torch::kFloat64) -
                        start.weights.tensors().at(norm).to(torch::kFloat64);
  // The weights are 1, where fp16 numbers are 2^-11 or 2^-10 apart.
  EXPECT_NEAR(change.abs().max().item<double>(), 2e-3, 6e-4);
}

// A run that starts with the largest scale of fp16 finds a usable scale automatically.
TEST(OverflowStepTest, TheScaleFallsUntilTheGradientsFit) {
  RunConfig config = Fp16Run();
  config.train.initial_loss_scale = std::exp2(32);
  const LayoutRun run = RunLayout(config, 30);
  EXPECT_FALSE(run.steps.front().is_finite);
  EXPECT_TRUE(run.steps.back().is_finite);
  EXPECT_GT(run.loss_scale.skipped_steps, 1);
  EXPECT_EQ(run.loss_scale.scale, std::exp2(32 - (run.loss_scale.skipped_steps - 1)));
}

}  // namespace
}  // namespace trainyard::trainer
