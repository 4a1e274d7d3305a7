#include "trainer/step/group_norms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/trainer/step/layout_run.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns the part of the model that contains this tensor. `name` is the tensor's name in
// checkpoints.
std::string PartOfTensor(const std::string& name) {
  const std::string layers = "model.layers.";
  if (name.rfind(layers, 0) == 0) {
    return "layer_" + name.substr(layers.size(), name.find('.', layers.size()) - layers.size());
  }
  if (name == "model.embed_tokens.weight") return "embedding";
  return name == "lm_head.weight" ? "head" : "final_norm";
}

std::map<std::string, double> NormsOf(const LogicalTensors& gradients) {
  std::map<std::string, double> norms;
  for (const auto& [name, gradient] : gradients.tensors()) {
    norms[PartOfTensor(name)] += gradient.to(torch::kFloat64).square().sum().item<double>();
  }
  for (auto& [_, norm] : norms) norm = std::sqrt(norm);
  return norms;
}

void ExpectNorms(const RunConfig& config, const std::map<std::string, double>& expected,
                 const std::string& what) {
  const LayoutRun run = RunLayout(config, 1);
  const std::vector<std::string> names = GradientPartNames(config.model);
  const std::vector<double>& norms = run.steps[0].part_norms;
  ASSERT_EQ(norms.size(), names.size()) << what;
  ASSERT_EQ(expected.size(), names.size());
  double squares = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_NEAR(norms[i] / expected.at(names[i]), 1, 1e-5) << what << ", " << names[i];
    squares += norms[i] * norms[i];
  }
  EXPECT_NEAR(std::sqrt(squares) / run.steps[0].grad_norm, 1, 1e-12) << what;
}

TEST(GroupNormsTest, AreThoseOfTheGradientsOnEveryLayout) {
  for (const bool is_tied : {false, true}) {
    RunConfig config = SmallRun();
    config.train.gradient_log_interval = 1;
    config.model.untie_embeddings_and_output_weights = !is_tied;
    const auto expected = NormsOf(RunLayout(config, 1).first_gradients);
    ExpectNorms(config, expected, "one process");
    RunConfig layout = config;
    layout.layout.tp = layout.layout.pp = 2;
    ExpectNorms(layout, expected, "TP2 x PP2");
    layout = config;
    layout.layout.tp = 4;
    ExpectNorms(layout, expected, "TP4, key heads shared");
    layout = config;
    layout.layout.cp = layout.layout.dp = 2;
    ExpectNorms(layout, expected, "CP2 x DP2");
    layout.layout.zero = 3;
    layout.layout.zero_size = 2;
    ExpectNorms(layout, expected, "CP2 x ZeRO 3, copies of 2");
    layout = config;
    layout.layout.pp = 2;
    layout.layout.dp = 2;
    layout.layout.zero = 2;
    ExpectNorms(layout, expected, "PP2 x ZeRO 2");
  }
}

TEST(GroupNormsTest, ComeInTheStepsThatAskForThem) {
  RunConfig config = SmallRun();
  config.layout.pp = 2;
  config.train.gradient_log_interval = 2;
  const LayoutRun run = RunLayout(config, 4);
  for (size_t i = 0; i < run.steps.size(); ++i) {
    EXPECT_EQ(run.steps[i].part_norms.empty(), i % 2 == 0) << "step " << i + 1;
  }
}

TEST(GroupNormsTest, NamesTheWeightsThatAModelHas) {
  ModelConfig model = SmallRun().model;
  model.num_layers = 2;
  EXPECT_EQ(GradientPartNames(model),
            (std::vector<std::string>{"embedding", "layer_0", "layer_1", "final_norm", "head"}));
  model.untie_embeddings_and_output_weights = false;
  model.normalization = Normalization::kLayerNorm;
  model.norm_weights = false;
  EXPECT_EQ(GradientPartNames(model),
            (std::vector<std::string>{"embedding", "layer_0", "layer_1"}));
  model.position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  EXPECT_EQ(GradientPartNames(model),
            (std::vector<std::string>{"embedding", "positions", "layer_0", "layer_1"}));
}

}  // namespace
}  // namespace trainyard::trainer
