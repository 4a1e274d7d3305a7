// Compares losses, gradients, weights and optimizer state of every layout with those of one
// process.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "proto/model/expert_capacity.h"
#include "tests/trainer/step/layout_cases.h"
#include "tests/trainer/step/layout_run.h"

namespace trainyard::trainer {
namespace {

constexpr int64_t kSteps = 20;

// In elements that are not rotated, a key bias adds the same number to all scores of a query. The
// softmax ignores this number, so the bias gradient of these elements is only rounding noise. Adam
// divides by the gradient's size, so it updates these elements as much as others.
constexpr char kKeyBias[] = "k_proj.bias";

double Relative(double value, double expected) { return std::abs(value / expected - 1); }

class LayoutProofTest : public ::testing::TestWithParam<LayoutCase> {
 protected:
  // Returns the run of one process with the same model and batch.
  static const LayoutRun& Reference(const RunConfig& config, bool masked) {
    using Key = std::tuple<ModelConfig, DataConfig, bool>;
    static std::vector<std::pair<Key, std::unique_ptr<LayoutRun>>> runs;
    const Key wanted(config.model, config.data, masked);
    for (const auto& [key, run] : runs) {
      if (key == wanted) return *run;
    }
    RunConfig alone = SmallRun();
    alone.model = config.model;
    alone.data = config.data;
    alone.train.seq_length = config.train.seq_length;
    alone.layout.micro_batch = 4;
    runs.emplace_back(wanted, std::make_unique<LayoutRun>(RunLayout(alone, kSteps, masked)));
    return *runs.back().second;
  }
};

void ExpectEqualBalance(const std::vector<LayerBalance>& layers,
                        const std::vector<LayerBalance>& expected, bool has_capacity) {
  ASSERT_EQ(layers.size(), expected.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    SCOPED_TRACE(expected[i].layer);
    EXPECT_EQ(layers[i].layer, expected[i].layer);
    EXPECT_EQ(layers[i].load, expected[i].load);
    EXPECT_EQ(layers[i].dropped, expected[i].dropped);
    EXPECT_EQ(expected[i].dropped > 0, has_capacity);
    EXPECT_GT(expected[i].entropy, 0);
    EXPECT_NEAR(layers[i].entropy, expected[i].entropy, 1e-6);
    EXPECT_NEAR(layers[i].aux_loss, expected[i].aux_loss, 1e-6);
    EXPECT_TRUE(layers[i].is_finite);
  }
}

TEST_P(LayoutProofTest, EqualsOneProcess) {
  RunConfig config = SmallRun();
  GetParam().edit(config);
  const LayoutRun& reference = Reference(config, GetParam().masked);
  const LayoutRun run = RunLayout(config, kSteps, GetParam().masked);
  ASSERT_EQ(run.steps.size(), static_cast<size_t>(kSteps));
  const StepResult &first = run.steps.front(), &last = run.steps.back();
  const StepResult &first_expected = reference.steps.front(),
                   &last_expected = reference.steps.back();
  const bool has_rotary = config.model.position_embedding_type == PositionEmbedding::kRope;
  const bool turns_all = has_rotary && config.model.rotary_percent == 1;
  const std::string noise = has_rotary ? "" : kKeyBias, drift = turns_all ? "" : kKeyBias;
  const LargestDistance gradients =
      DistanceOf(run.first_gradients, reference.first_gradients, noise);
  const LargestDistance weights = DistanceOf(run.weights, reference.weights, drift);
  const LargestDistance moments = DistanceOf(run.first_moments, reference.first_moments, noise);
  const LargestDistance squares = DistanceOf(run.second_moments, reference.second_moments, noise);
  std::printf("| %-34s | %5ld | %7.1e | %7.1e | %7.1e | %7.1e | %7.1e | %7.1e |\n", GetParam().name,
              RanksOf(config.layout), Relative(first.loss, first_expected.loss),
              Relative(last.loss, last_expected.loss), gradients.value,
              Relative(first.grad_norm, first_expected.grad_norm), weights.value, moments.value);
  EXPECT_EQ(run.faults, std::vector<std::string>());
  EXPECT_LT(Relative(first.loss, first_expected.loss), 1e-6);
  EXPECT_LT(Relative(last.loss, last_expected.loss), 1e-5);
  if (config.model.mtp_num_layers > 0) {
    EXPECT_LT(Relative(first.mtp_loss, first_expected.mtp_loss), 1e-6);
    EXPECT_LT(Relative(last.mtp_loss, last_expected.mtp_loss), 1e-5);
    EXPECT_NE(last.mtp_loss, first.mtp_loss);
  }
  EXPECT_LT(gradients.value, 1e-5) << gradients.name;
  EXPECT_LT(Relative(first.grad_norm, first_expected.grad_norm), 1e-6);
  EXPECT_LT(Relative(last.grad_norm, last_expected.grad_norm), 1e-3);
  EXPECT_LT(weights.value, 1e-3) << weights.name;
  EXPECT_LT(moments.value, 1e-3) << moments.name;
  EXPECT_LT(squares.value, 1e-3) << squares.name;
  if (reference.expert_bias.defined()) {
    EXPECT_GT(reference.expert_bias.abs().max().item<float>(), 0);
    EXPECT_TRUE(run.expert_bias.equal(reference.expert_bias));
  }
  EXPECT_EQ(StepsOfEqualLoad(run, reference), kSteps);
  ExpectEqualBalance(first.experts, first_expected.experts, HasExpertCapacity(config.model));
  EXPECT_LT(last.loss, first.loss) << "the model must learn, so that the steps differ";
}

INSTANTIATE_TEST_SUITE_P(Layouts, LayoutProofTest, ::testing::ValuesIn(LayoutCases()));

}  // namespace
}  // namespace trainyard::trainer
