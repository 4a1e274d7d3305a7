#include "trainer/step/adaptive_clip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/trainer/parallel/in_memory_group.h"
#include "tests/trainer/step/layout_run.h"
#include "trainer/kernels/optimizer/step_values.h"
#include "trainer/step/model_options.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr double kRatio = 0.02;
constexpr int64_t kClippedSteps = 5;

RunConfig Clipped(bool is_tied) {
  RunConfig config = SmallRun();
  config.model.untie_embeddings_and_output_weights = !is_tied;
  config.optimizer.adaptive_clip = kRatio;
  config.optimizer.clip_grad = 0.05;
  return config;
}

struct Expected {
  std::map<std::string, Tensor> gradients;
  int64_t clipped = 0;
  int64_t units = 0;
};

// Computes the expected result unit by unit, from whole tensors of weights and gradients.
Expected ClipPlainly(const LogicalTensors& weights, const LogicalTensors& gradients,
                     const std::string& left_out) {
  Expected expected;
  for (const auto& [name, gradient] : gradients.tensors()) {
    Tensor& result = expected.gradients[name] = gradient.to(torch::kFloat64);
    if (name == left_out) continue;
    const Tensor rows = result.dim() > 1 ? result : result.view({1, -1});
    const Tensor of_weights = weights.tensors().at(name).to(torch::kFloat64).reshape(rows.sizes());
    for (int64_t row = 0; row < rows.size(0); ++row) {
      const double limit = kRatio * std::max(of_weights[row].norm().item<double>(), 1e-3);
      const double norm = rows[row].norm().item<double>();
      ++expected.units;
      if (norm <= limit) continue;
      ++expected.clipped;
      rows[row].mul_(limit / norm);
    }
  }
  return expected;
}

double RelativeDistance(const Tensor& values, const Tensor& expected) {
  return ((values.to(torch::kFloat64) - expected).norm() / expected.norm()).item<double>();
}

TEST(AdaptiveClipTest, EqualsThePlainFormula) {
  for (const bool is_tied : {false, true}) {
    RunConfig config = Clipped(is_tied);
    const LayoutRun clipped = RunLayout(config, 1);
    config.optimizer.adaptive_clip = 0;
    const LayoutRun plain = RunLayout(config, 1), start = RunLayout(config, 0);
    const Expected expected =
        ClipPlainly(start.weights, plain.first_gradients, Decoder::HeadTensor(config.model));
    EXPECT_GT(expected.clipped, 0);
    EXPECT_LT(expected.clipped, expected.units) << "some units must stay as they are";
    EXPECT_EQ(clipped.steps[0].clipped_units, expected.clipped);
    EXPECT_EQ(plain.steps[0].clipped_units, 0);
    double squares = 0;
    for (const auto& [name, gradient] : clipped.first_gradients.tensors()) {
      EXPECT_LT(RelativeDistance(gradient, expected.gradients.at(name)), 1e-6) << name;
      squares += expected.gradients.at(name).square().sum().item<double>();
    }
    EXPECT_NEAR(clipped.steps[0].grad_norm / std::sqrt(squares), 1, 1e-6);
  }
}

void ExpectEqual(const RunConfig& config, const LayoutRun& reference, const std::string& what) {
  const LayoutRun run = RunLayout(config, kClippedSteps);
  EXPECT_EQ(run.faults, std::vector<std::string>()) << what;
  const LargestDistance gradients = DistanceOf(run.first_gradients, reference.first_gradients),
                        weights = DistanceOf(run.weights, reference.weights),
                        moments = DistanceOf(run.first_moments, reference.first_moments);
  EXPECT_LT(gradients.value, 1e-5) << what << ", " << gradients.name;
  EXPECT_LT(weights.value, 1e-4) << what << ", " << weights.name;
  EXPECT_LT(moments.value, 1e-4) << what << ", " << moments.name;
  for (int64_t i = 0; i < kClippedSteps; ++i) {
    EXPECT_NEAR(run.steps[i].grad_norm / reference.steps[i].grad_norm, 1, 1e-5) << what;
  }
  EXPECT_EQ(run.steps[0].clipped_units, reference.steps[0].clipped_units) << what;
}

TEST(AdaptiveClipTest, IsTheSameOnEveryLayout) {
  for (const bool is_tied : {false, true}) {
    const RunConfig config = Clipped(is_tied);
    const LayoutRun reference = RunLayout(config, kClippedSteps);
    RunConfig layout = config;
    layout.layout.tp = layout.layout.pp = 2;
    ExpectEqual(layout, reference, "TP2 x PP2");
    layout = config;
    layout.layout.tp = 4;
    ExpectEqual(layout, reference, "TP4, key heads shared");
    layout.layout.sequence_parallel = false;
    layout.layout.dp = 2;
    layout.layout.zero = 1;
    ExpectEqual(layout, reference, "TP4 without sequence parallelism x ZeRO 1");
    layout = config;
    layout.layout.dp = 4;
    layout.layout.zero = 3;
    ExpectEqual(layout, reference, "ZeRO 3 x4");
    layout.layout.zero_size = 2;
    ExpectEqual(layout, reference, "ZeRO 3 x4, copies of 2");
    layout = config;
    layout.layout.cp = 2;
    ExpectEqual(layout, reference, "CP2");
    layout.layout.pp = 2;
    layout.layout.vpp = 2;
    layout.layout.zero = 2;
    ExpectEqual(layout, reference, "CP2 x PP2 interleaved x ZeRO 2");
  }
}

// Covers matrices split by columns, vectors, and rows that ZeRO splits.
TEST(AdaptiveClipTest, LayerNormsUnderUnevenKeyHeads) {
  RunConfig config = Clipped(false);
  config.model.normalization = Normalization::kLayerNorm;
  config.model.num_attention_heads = 6;
  config.model.num_query_groups = 3;
  config.model.hidden_size = 48;
  const LayoutRun reference = RunLayout(config, kClippedSteps);
  config.layout.tp = 2;
  ExpectEqual(config, reference, "TP2");
  config.layout.dp = 2;
  config.layout.zero = 3;
  ExpectEqual(config, reference, "TP2 x ZeRO 3");
}

TEST(AdaptiveClipTest, GradientsThatAreNotFiniteStayThatWay) {
  const RunConfig config = Clipped(false);
  const Mesh mesh(config.layout);
  InMemoryNetwork network;
  const RankGroups groups =
      ConnectRankGroups(mesh, 0, config.layout, {},
                        [&](const CommunicatorGroup& group) { return network.Connect(group); });
  Decoder model(config.model, ModelOptions(config, mesh, 0, groups, torch::kCPU));
  const AdaptiveClip clip(kRatio, config.model, model, groups);
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    ParameterStore& store = model.parameters();
    for (int64_t i = 0; i < store.size(); ++i) store.Gradient(i).fill_(1);
    store.Gradient(store.size() - 1).view({-1})[0].fill_(bad);
    Tensor values = torch::zeros({kStepValues}, torch::kFloat64);
    clip.Apply(/*loss_scale=*/1, values);
    EXPECT_FALSE(at::isfinite(store.Gradient(store.size() - 1)).all().item<bool>()) << bad;
    EXPECT_TRUE(at::isfinite(store.Gradient(0)).all().item<bool>());
  }
}

}  // namespace
}  // namespace trainyard::trainer
