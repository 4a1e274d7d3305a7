#include "proto/contract/model_size.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(ParameterCount(Llama3_8b()), 8'030'261'248);  // As its model card's file sums up to.
  EXPECT_EQ(MatrixParameterCount(Llama3_8b()), 8'030'261'248 - 65 * 4096 - 128256 * 4096);
}

TEST(ModelSizeTest, FlopsAreSixPerWeightAndFullAttention) {
  const double attention = 12.0 * 32 * 4096 * 8192;
  EXPECT_DOUBLE_EQ(TrainingFlopsPerToken(Llama3_8b(), 8192),
                   6.0 * static_cast<double>(MatrixParameterCount(Llama3_8b())) + attention);
}

}  // namespace
}  // namespace trainyard
