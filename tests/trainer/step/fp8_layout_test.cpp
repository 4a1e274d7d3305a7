// Trains in FP8 with any layout, and compares the results with those of one process.
//
// The models are fp64. In fp32, sums that differ in their last bit change the rounding of about one
// of the 400,000 FP8 numbers of a step. The next products spread this difference to all later
// tokens, and the losses differ by 1e-3 after 20 steps. In fp64 no rounding changes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/trainer/step/layout_run.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr int64_t kFp8Steps = 20;

LayoutRun RunInFp64(const RunConfig& config, int64_t steps, const Tensor& history = {}) {
  LayoutMachine machine;
  machine.type = torch::kFloat64;
  machine.fp8_history = history;
  return RunLayout(config, steps, /*masked=*/false, machine);
}

// All matrices of the blocks use FP8 in every layout of this file.
RunConfig Fp8Run(Fp8Recipe recipe) {
  RunConfig config = SmallRun();
  config.resources.device = DeviceKind::kCpu;
  config.model.hidden_size = 64;
  config.model.ffn_hidden_size = 128;
  config.model.num_attention_heads = 8;
  config.model.num_query_groups = 4;
  config.train.seq_length = 64;
  config.train.global_batch = 4;
  config.train.fp8 = recipe;
  if (recipe == Fp8Recipe::kDelayed) config.train.fp8_amax_history_len = 4;
  config.train.fp8_amax_compute_algo = Fp8AmaxAlgorithm::kMax;
  return config;
}

struct Fp8Case {
  const char* name;
  void (*edit)(RunConfig&);
};

void PrintTo(const Fp8Case& layout, std::ostream* out) { *out << layout.name; }

double RelativeLoss(const StepResult& step, const StepResult& expected) {
  return std::abs(step.loss / expected.loss - 1);
}

class Fp8LayoutTest : public ::testing::TestWithParam<std::tuple<Fp8Recipe, Fp8Case>> {
 protected:
  // Returns the run of one process with the same model, micro-batches and recipe.
  static const LayoutRun& Reference(const RunConfig& config) {
    static std::map<std::tuple<Fp8Recipe, int64_t, int64_t, bool>, LayoutRun> runs;
    const auto key = std::make_tuple(config.train.fp8, config.layout.micro_batch,
                                     config.model.num_experts, config.model.add_bias_linear);
    if (runs.count(key) == 0) {
      RunConfig alone = Fp8Run(config.train.fp8);
      alone.model = config.model;
      alone.layout.micro_batch = config.layout.micro_batch;
      runs.emplace(key, RunInFp64(alone, kFp8Steps));
    }
    return runs.at(key);
  }
};

TEST_P(Fp8LayoutTest, EqualsOneProcess) {
  const auto& [recipe, layout] = GetParam();
  RunConfig config = Fp8Run(recipe);
  layout.edit(config);
  const LayoutRun &reference = Reference(config), run = RunInFp64(config, kFp8Steps);
  EXPECT_EQ(run.faults, std::vector<std::string>());
  double largest = 0;
  for (int64_t step = 0; step < kFp8Steps; ++step) {
    largest = std::max(largest, RelativeLoss(run.steps[step], reference.steps[step]));
  }
  const LargestDistance gradients = DistanceOf(run.first_gradients, reference.first_gradients);
  std::printf("| %-40s | %7.1e | %7.1e |\n", layout.name, largest, gradients.value);
  EXPECT_LT(largest, 1e-9);
  EXPECT_LT(gradients.value, 1e-9) << gradients.name;
  EXPECT_LT(run.steps.back().loss, run.steps.front().loss);
  if (recipe != Fp8Recipe::kDelayed) return;
  const Tensor history = reference.fp8_history;
  EXPECT_EQ(history.count_nonzero().item<int64_t>(), history.numel())
      << "each matrix of each layer";
  EXPECT_TRUE(run.fp8_history.allclose(reference.fp8_history, /*rtol=*/1e-5, /*atol=*/0));
}

constexpr Fp8Case kFp8Cases[] = {
    {"TP2, no SP",
     [](RunConfig& c) {
       c.layout.tp = 2;
       c.layout.sequence_parallel = false;
     }},
    {"TP2+SP", [](RunConfig& c) { c.layout.tp = 2; }},
    {"TP4+SP", [](RunConfig& c) { c.layout.tp = 4; }},
    {"CP2 ring",
     [](RunConfig& c) {
       c.layout.cp = 2;
       c.layout.cp_comm_type = ContextExchange::kP2p;
     }},
    {"CP2 heads",
     [](RunConfig& c) {
       c.layout.cp = 2;
       c.layout.cp_comm_type = ContextExchange::kA2a;
     }},
    {"CP2 all-gather x ZeRO 3",
     [](RunConfig& c) {
       c.layout.cp = 2;
       c.layout.cp_comm_type = ContextExchange::kAllGather;
       c.layout.zero = 3;
     }},
    {"TP2+SP x CP2", [](RunConfig& c) { c.layout.tp = c.layout.cp = 2; }},
    {"PP2", [](RunConfig& c) { c.layout.pp = 2; }},
    {"PP2 interleaved x2 x TP2+SP",
     [](RunConfig& c) { c.layout.pp = c.layout.vpp = c.layout.tp = 2; }},
    {"PP2 zero-bubble",
     [](RunConfig& c) {
       c.layout.pp = 2;
       c.layout.zero_bubble = true;
     }},
    {"DP2", [](RunConfig& c) { c.layout.dp = 2; }},
    {"DP4", [](RunConfig& c) { c.layout.dp = 4; }},
    {"ZeRO 1 x2",
     [](RunConfig& c) {
       c.layout.dp = 2;
       c.layout.zero = 1;
     }},
    {"ZeRO 2 x2",
     [](RunConfig& c) {
       c.layout.dp = 2;
       c.layout.zero = 2;
     }},
    {"ZeRO 3 x2",
     [](RunConfig& c) {
       c.layout.dp = 2;
       c.layout.zero = 3;
     }},
    {"TP2+SP x ZeRO 3 x2, recompute selective",
     [](RunConfig& c) {
       c.layout.tp = c.layout.dp = 2;
       c.layout.zero = 3;
       c.layout.recompute = Recompute::kSelective;
     }},
    {"PP2 x ZeRO 1 x2, micro-batches of 2",
     [](RunConfig& c) {
       c.layout.pp = c.layout.dp = c.layout.micro_batch = 2;
       c.layout.zero = 1;
     }},
    {"biases, TP2+SP",
     [](RunConfig& c) {
       c.layout.tp = 2;
       c.model.add_bias_linear = true;
     }},
};

INSTANTIATE_TEST_SUITE_P(Layouts, Fp8LayoutTest,
                         ::testing::Combine(::testing::Values(Fp8Recipe::kDelayed,
                                                              Fp8Recipe::kCurrent),
                                            ::testing::ValuesIn(kFp8Cases)));

void ExpectEqualRuns(const LayoutRun& run, const LayoutRun& expected) {
  for (size_t step = 0; step < expected.steps.size(); ++step) {
    EXPECT_EQ(run.steps[step].loss, expected.steps[step].loss) << "step " << step + 1;
  }
  for (const auto& [name, tensor] : expected.weights.tensors()) {
    EXPECT_TRUE(run.weights.tensors().at(name).equal(tensor)) << name;
  }
}

TEST(Fp8RunTest, RecomputationGivesEqualBits) {
  for (const Fp8Recipe recipe : {Fp8Recipe::kDelayed, Fp8Recipe::kCurrent}) {
    RunConfig config = Fp8Run(recipe);
    config.layout.tp = 2;
    const LayoutRun expected = RunLayout(config, 5);
    for (const Recompute recompute : {Recompute::kSelective, Recompute::kFull}) {
      config.layout.recompute = recompute;
      ExpectEqualRuns(RunLayout(config, 5), expected);
    }
  }
}

// Ranks that share a key head cast their own parts of its gradient, whose rounding errors differ
// from those of the sum.
TEST(Fp8RunTest, SharedKeyHeadsFollowOneProcess) {
  RunConfig config = Fp8Run(Fp8Recipe::kDelayed);
  config.model.num_query_groups = 2;
  const LayoutRun expected = RunInFp64(config, 5);
  config.layout.tp = 4;
  const LayoutRun run = RunInFp64(config, 5);
  EXPECT_EQ(run.faults, std::vector<std::string>());
  for (size_t step = 0; step < expected.steps.size(); ++step) {
    EXPECT_LT(RelativeLoss(run.steps[step], expected.steps[step]), 0.01) << "step " << step + 1;
  }
}

TEST(Fp8RunTest, TwoRunsGiveEqualBits) {
  const RunConfig config = Fp8Run(Fp8Recipe::kDelayed);
  ExpectEqualRuns(RunLayout(config, 5), RunLayout(config, 5));
}

// Delayed scales do not depend on how a batch is divided, once there is a history.
TEST(Fp8RunTest, MicroBatchesDoNotChangeDelayedScales) {
  RunConfig config = Fp8Run(Fp8Recipe::kDelayed);
  const Tensor history = RunInFp64(config, 2).fp8_history;
  const LayoutRun expected = RunInFp64(config, 5, history);
  for (const int64_t samples : {2, 4}) {
    config.layout.micro_batch = samples;
    const LayoutRun run = RunInFp64(config, 5, history);
    for (size_t step = 0; step < expected.steps.size(); ++step) {
      EXPECT_LT(RelativeLoss(run.steps[step], expected.steps[step]), 1e-5) << "step " << step + 1;
    }
    EXPECT_TRUE(run.fp8_history.allclose(expected.fp8_history, /*rtol=*/1e-5, /*atol=*/0));
  }
}

// FP8 changes the losses, and by no more than its rounding errors explain.
TEST(Fp8RunTest, LossesFollowFp32) {
  for (const Fp8Recipe recipe : {Fp8Recipe::kDelayed, Fp8Recipe::kCurrent}) {
    RunConfig exact = Fp8Run(recipe);
    exact.train.fp8 = Fp8Recipe::kNone;
    const LayoutRun run = RunLayout(Fp8Run(recipe), kFp8Steps);
    const LayoutRun expected = RunLayout(exact, kFp8Steps);
    for (int64_t step = 0; step < kFp8Steps; ++step) {
      EXPECT_LT(RelativeLoss(run.steps[step], expected.steps[step]), 0.02) << "step " << step + 1;
      EXPECT_NE(run.steps[step].loss, expected.steps[step].loss);
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
