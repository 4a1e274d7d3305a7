#include "proto/model/model_size.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace trainyard {
namespace {

ModelConfig Llama3_8b() {
  ModelConfig model;
  model.num_layers = 32;
  model.hidden_size = 4096;
  model.ffn_hidden_size = 14336;
  model.num_attention_heads = 32;
  model.num_query_groups = 8;
  model.vocab_size = 128256;
  return model;
}

TEST(ModelSizeTest, CountsLlama3_8b) {
  EXPECT_EQ(ParameterCount(Llama3_8b()), 8'030'261'248);  // The sum in the model card's file.
  EXPECT_EQ(MatrixParameterCount(Llama3_8b()), 8'030'261'248 - 65 * 4096 - 128256 * 4096);
}

// GPT-2 on Hugging Face has 124,439,808 weights.
TEST(ModelSizeTest, CountsGpt2) {
  ModelConfig model;
  model.num_layers = 12;
  model.hidden_size = 768;
  model.ffn_hidden_size = 3072;
  model.num_attention_heads = model.num_query_groups = 12;
  model.vocab_size = 50257;
  model.normalization = Normalization::kLayerNorm;
  model.add_bias_linear = true;
  model.activation = Activation::kGeluTanh;
  model.position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  model.max_position_embeddings = 1024;
  model.untie_embeddings_and_output_weights = false;
  EXPECT_EQ(ParameterCount(model), 124'439'808);
  EXPECT_EQ(MatrixParameterCount(model), 12 * 12 * 768 * 768 + 50257 * 768);
}

// The expected numbers are those of the published weights on Hugging Face.
TEST(ModelSizeTest, CountsQwen2) {
  ModelConfig model;
  model.num_layers = 28;
  model.hidden_size = 3584;
  model.ffn_hidden_size = 18944;
  model.num_attention_heads = 28;
  model.num_query_groups = 4;
  model.vocab_size = 152064;
  model.add_qkv_bias = true;
  EXPECT_EQ(ParameterCount(model), 7'615'616'512);
  model.num_layers = 24;
  model.hidden_size = 896;
  model.ffn_hidden_size = 4864;
  model.num_attention_heads = 14;
  model.num_query_groups = 2;
  model.vocab_size = 151936;
  model.untie_embeddings_and_output_weights = false;
  EXPECT_EQ(ParameterCount(model), 494'032'768);
}

// Each layer has biases of 4 query heads, 2 key heads and 2 value heads of size 8.
TEST(ModelSizeTest, LayersWithExpertsHaveBiasesOfQueriesKeysAndValues) {
  ModelConfig model;
  model.num_layers = 3;
  model.hidden_size = 32;
  model.ffn_hidden_size = 64;
  model.num_attention_heads = 4;
  model.num_query_groups = 2;
  model.vocab_size = 64;
  model.num_experts = 4;
  model.moe_router_topk = 2;
  const int64_t before = ParameterCount(model);
  model.add_qkv_bias = true;
  EXPECT_EQ(ParameterCount(model) - before, 3 * (4 + 2 + 2) * 8);
}

// The expected number is from the model card and includes the padded vocabulary.
TEST(ModelSizeTest, CountsGptNeox20b) {
  ModelConfig model;
  model.num_layers = 44;
  model.hidden_size = 6144;
  model.ffn_hidden_size = 24576;
  model.num_attention_heads = model.num_query_groups = 64;
  model.vocab_size = 50432;
  model.normalization = Normalization::kLayerNorm;
  model.add_bias_linear = true;
  model.activation = Activation::kGelu;
  model.rotary_percent = 0.25;
  model.parallel_residual = true;
  EXPECT_EQ(ParameterCount(model), 20'554'567'680);
}

TEST(ModelSizeTest, HeadsShareTheHiddenSizeUnlessTheirSizeIsSet) {
  ModelConfig model;
  model.hidden_size = 4096;
  model.num_attention_heads = 32;
  EXPECT_EQ(HeadSize(model), 128);
  model.kv_channels = 96;
  EXPECT_EQ(HeadSize(model), 96);
  EXPECT_EQ(UsualHeadSize(model), 128);
  model.num_attention_heads = 0;
  EXPECT_EQ(UsualHeadSize(model), 4096) << "must not divide by 0 before the settings are checked";
}

TEST(ModelSizeTest, FlopsAreSixPerWeightAndFullAttention) {
  const double attention = 12.0 * 32 * 4096 * 8192;
  EXPECT_DOUBLE_EQ(TrainingFlopsPerToken(Llama3_8b(), 8192),
                   6.0 * static_cast<double>(MatrixParameterCount(Llama3_8b())) + attention);
}

// Megatron-LM counts the projections, half of both attention products, SwiGLU, and the logits, each
// for the forward and the backward pass. A multiplication and an addition count as two operations.
TEST(ModelSizeTest, CausalFlopsAreMegatrons) {
  const double hidden = 4096, keys = 8 * 128, length = 8192, ffn = 14336;
  const double layer =
      hidden * (hidden + 2 * keys) + hidden * length / 2 * 2 + hidden * hidden + 3 * hidden * ffn;
  EXPECT_DOUBLE_EQ(CausalTrainingFlopsPerToken(Llama3_8b(), 8192),
                   3 * 2 * (32 * layer + hidden * 128256));
}

// Mistral 7B has a window of 4096. In a sample of 8192 queries, the first 4096 queries see 1, 2,
// ... keys; each other query sees 4096 keys.
TEST(ModelSizeTest, AWindowLeavesOutWhatItHides) {
  ModelConfig model = Llama3_8b();
  model.window_size = 4096;
  double keys = 0;
  for (int64_t query = 0; query < 8192; ++query) {
    keys += static_cast<double>(std::min<int64_t>(query + 1, 4096));
  }
  const double length = 2 * keys / 8192 - 1;  // 8192 if each query saw all keys up to its own.
  EXPECT_DOUBLE_EQ(
      TrainingFlopsPerToken(model, 8192),
      6.0 * static_cast<double>(MatrixParameterCount(model)) + 12.0 * 32 * 4096 * length);
  model.window_size = 8192;
  EXPECT_EQ(TrainingFlopsPerToken(model, 8192), TrainingFlopsPerToken(Llama3_8b(), 8192));
}

}  // namespace
}  // namespace trainyard
