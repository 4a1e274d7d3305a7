// Compares the memory that the planner predicts with the memory of a model in this process.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "proto/memory/memory_model.h"
#include "proto/model/model_size.h"
#include "tests/trainer/model/family_settings.h"
#include "trainer/model/decoder.h"
#include "trainer/model/parameters/parameter_layout.h"

namespace trainyard::trainer {
namespace {

constexpr int64_t kBatch = 3, kLength = 8;

RunConfig RunOf(const std::function<void(ModelConfig&)>& make) {
  RunConfig config;
  config.model.num_layers = 3;
  config.model.hidden_size = 16;
  config.model.ffn_hidden_size = 24;
  config.model.num_attention_heads = 4;
  config.model.num_query_groups = 2;
  config.model.vocab_size = 31;
  make(config.model);
  config.resources.device = DeviceKind::kCpu;
  config.train.precision = Precision::kFp32;
  config.train.seq_length = kLength;
  config.train.global_batch = kBatch;
  config.layout.dp = 1;
  config.layout.micro_batch = kBatch;
  return config;
}

const std::map<std::string, std::function<void(ModelConfig&)>>& Families() {
  static const std::map<std::string, std::function<void(ModelConfig&)>> families = {
      {"Dense", [](ModelConfig&) {}}, {"Mixtral", MakeMixtral},
      {"Qwen3Moe", MakeQwen3Moe},     {"DeepSeekExperts", MakeDeepSeekMoe},
      {"DeepSeekV3", MakeDeepSeekV3}, {"DeepSeekV2Lite", MakeDeepSeekV2Lite}};
  return families;
}

int64_t KeptBytes(const RunConfig& config) {
  DecoderOptions options;
  options.blocks.recompute = config.layout.recompute;
  const Decoder decoder(config.model, options);
  const TrainingTokens batch = {torch::randint(0, 31, {kBatch, kLength + 1}, torch::kInt64),
                                torch::rand({kBatch * kLength})};
  MicroBatch micro_batch = decoder.Begin(0, batch, Stash::Mode::kKeep);
  decoder.Forward(0, {}, micro_batch);
  return micro_batch.stash.bytes();
}

// Returns the bytes of the row counts, one int64 per expert and layer. The planner does not include
// these bytes, because they are in host memory and the planner predicts the memory of a GPU.
int64_t HostBytes(const ModelConfig& model) {
  return KindsOf(model, {0, model.num_layers}).expert * model.num_experts * 8;
}

TEST(MoeMemoryTest, ForwardPassesKeepThePredictedBytes) {
  for (const auto& [name, make] : Families()) {
    for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
      SCOPED_TRACE(name + " " + std::to_string(static_cast<int>(recompute)));
      RunConfig config = RunOf(make);
      config.layout.recompute = recompute;
      const MemoryPrediction predicted = PredictTrainingMemory(config);
      EXPECT_EQ(predicted.activations + predicted.dispatch,
                static_cast<double>(KeptBytes(config) - HostBytes(config.model)));
    }
  }
}

// The store aligns each parameter and each group of parameters (ParameterLayout::kAlignment).
TEST(MoeMemoryTest, ParametersAndGradientsHaveThePredictedBytes) {
  for (const auto& [name, make] : Families()) {
    SCOPED_TRACE(name);
    const RunConfig config = RunOf(make);
    Decoder decoder(config.model, {});
    const MemoryPrediction predicted = PredictTrainingMemory(config);
    const auto allocated = static_cast<double>(decoder.parameters().gradients().nbytes());
    const int64_t aligned = decoder.parameters().size() + 2 * config.model.num_layers + 2;
    EXPECT_GE(allocated, predicted.gradients);
    EXPECT_LT(allocated,
              predicted.gradients + static_cast<double>(4 * ParameterLayout::kAlignment * aligned));
    EXPECT_EQ(predicted.gradients, 4 * static_cast<double>(ParameterCount(config.model)));
    EXPECT_EQ(predicted.weights, predicted.gradients);
  }
}

}  // namespace
}  // namespace trainyard::trainer
