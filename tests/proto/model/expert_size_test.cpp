// Tests the sizes of models with experts and latent attention.
#include <gtest/gtest.h>

#include "proto/model/model_size.h"

namespace trainyard {
namespace {

ModelConfig Dense() {
  return {.num_layers = 32,
          .hidden_size = 4096,
          .ffn_hidden_size = 14336,
          .num_attention_heads = 32,
          .num_query_groups = 8,
          .vocab_size = 32000};
}

ModelConfig Mixtral() {
  ModelConfig model = Dense();
  model.num_experts = 8;
  model.moe_router_topk = 2;
  return model;
}

TEST(ExpertSizeTest, EveryParameterOfADenseModelIsActive) {
  EXPECT_EQ(ActiveParameterCount(Dense()), ParameterCount(Dense()));
  EXPECT_EQ(KindsOf(Dense(), {0, 32}).expert, 0);
}

// If there is one expert, it receives every token. The layer then equals a dense layer plus a
// router with one row.
TEST(ExpertSizeTest, OneExpertIsADenseModelWithARouter) {
  for (const bool norms_heads : {false, true}) {
    ModelConfig model = Dense();
    model.qk_layernorm = norms_heads;
    const int64_t dense = ParameterCount(model);
    model.num_experts = model.moe_router_topk = 1;
    EXPECT_EQ(ParameterCount(model), dense + model.num_layers * model.hidden_size);
    EXPECT_EQ(ActiveParameterCount(model), ParameterCount(model));
  }
}

TEST(ExpertSizeTest, TheFirstLayersMayBeDense) {
  ModelConfig model = Mixtral();
  model.moe_dense_layers = 3;
  EXPECT_EQ(KindsOf(model, {0, 5}).dense, 3);
  EXPECT_EQ(KindsOf(model, {0, 5}).expert, 2);
  EXPECT_EQ(KindsOf(model, {3, 5}).dense, 0);
  EXPECT_FALSE(HasExpertsIn(2, model));
  EXPECT_TRUE(HasExpertsIn(3, model));
}

// https://huggingface.co/mistralai/Mixtral-8x7B-v0.1 has 46,702,792,704 parameters according to its
// index of tensors.
TEST(ExpertSizeTest, ExpertsCountOnceInAllAndByTopkForAToken) {
  EXPECT_EQ(ParameterCount(Mixtral()), 46702792704);
  EXPECT_EQ(ActiveParameterCount(Mixtral()), 12879925248);
}

TEST(ExpertSizeTest, LatentAttentionSharedExpertsAndDenseLayers) {
  ModelConfig model = {.num_layers = 3,
                       .hidden_size = 10,
                       .ffn_hidden_size = 40,
                       .num_attention_heads = 2,
                       .num_query_groups = 2,
                       .vocab_size = 100,
                       .num_experts = 4,
                       .moe_router_topk = 2,
                       .moe_ffn_hidden_size = 7,
                       .moe_shared_expert_intermediate_size = 8,
                       .moe_dense_layers = 1,
                       .multi_latent_attention = true,
                       .q_lora_rank = 6,
                       .kv_lora_rank = 4,
                       .qk_head_dim = 3,
                       .qk_pos_emb_head_dim = 2,
                       .v_head_dim = 5};
  const int64_t queries = 10 * 6 + 6 + 6 * 2 * (3 + 2);
  const int64_t keys = 10 * (4 + 2) + 4 + 4 * 2 * (3 + 5);
  const int64_t attention = queries + keys + 2 * 5 * 10;
  const int64_t rest =
      3 * (attention + 2 * 10) + 3 * 10 * 40 + 2 * 3 * 10 * 8 + 2 * 10 * 4 + 2 * 100 * 10 + 10;
  EXPECT_EQ(ParameterCount(model), rest + 2 * 4 * 3 * 10 * 7);
  EXPECT_EQ(ActiveParameterCount(model), rest + 2 * 2 * 3 * 10 * 7);
  model.q_lora_rank = 0;
  EXPECT_EQ(ParameterCount(model), rest + 2 * 4 * 3 * 10 * 7 - 3 * queries + 3 * 10 * 2 * (3 + 2));
}

TEST(ExpertSizeTest, OperationsAreThoseOfTheActiveMatrices) {
  const double embedding = 32000.0 * 4096, norms = 65.0 * 4096;
  const auto active = static_cast<double>(ActiveParameterCount(Mixtral()));
  EXPECT_NEAR(TrainingFlopsPerToken(Mixtral(), 4096),
              6 * (active - embedding - norms) + 12.0 * 32 * 4096 * 4096, 1);
}

TEST(ExpertSizeTest, LatentAttentionHasTheMeanSizeOfQueryAndValueHeads) {
  ModelConfig model = Dense();
  model.kv_lora_rank = 512;
  model.qk_head_dim = model.v_head_dim = 128;
  model.qk_pos_emb_head_dim = 64;
  EXPECT_EQ(MeanHeadSize(model), 160);
  EXPECT_NEAR(TrainingFlopsPerToken(model, 4096),
              6.0 * static_cast<double>(MatrixParameterCount(model)) + 12.0 * 32 * 32 * 160 * 4096,
              1);
}

// A module has a block, a projection of two hidden states, and three norms. It reuses the head.
TEST(ExpertSizeTest, ModulesOfMultiTokenPredictionCount) {
  ModelConfig model = Mixtral();
  model.moe_dense_layers = 1;
  const int64_t without = ParameterCount(model), active = ActiveParameterCount(model);
  const double flops = TrainingFlopsPerToken(model, 4096);
  model.num_layers += 2;
  const int64_t blocks = ParameterCount(model) - without;
  const int64_t active_blocks = ActiveParameterCount(model) - active;
  const double flops_of_blocks = TrainingFlopsPerToken(model, 4096) - flops;
  model.num_layers -= 2;
  model.mtp_num_layers = 2;
  const int64_t projections = 2 * 2 * 4096 * 4096, norms = 2 * 3 * 4096;
  EXPECT_EQ(LayersWithMtp(model), 34);
  EXPECT_EQ(ParameterCount(model), without + blocks + projections + norms);
  EXPECT_EQ(ActiveParameterCount(model), active + active_blocks + projections + norms);
  EXPECT_NEAR(TrainingFlopsPerToken(model, 4096),
              flops + flops_of_blocks + 6.0 * (projections + 2 * 32000.0 * 4096), 1e3);
}

TEST(ExpertSizeTest, MultiTokenPredictionNeedsTheTableAtBothEnds) {
  ModelConfig model = Dense();
  EXPECT_FALSE(HasTableAtBothEnds(model));
  model.mtp_num_layers = 1;
  EXPECT_TRUE(HasTableAtBothEnds(model));
  model.mtp_num_layers = 0;
  model.untie_embeddings_and_output_weights = false;
  EXPECT_TRUE(HasTableAtBothEnds(model));
}

TEST(ExpertSizeTest, FindsTheWidthThatATotalNeeds) {
  EXPECT_EQ(ExpertWidthFor(Mixtral(), 46702792704.0), 14336);
  EXPECT_EQ(ExpertWidthFor(Mixtral(), 1e6), 0);
  EXPECT_EQ(ExpertWidthFor(Dense(), 1e9), 0);
}

TEST(ExpertSizeTest, TooManyParametersToCountAreFound) {
  ModelConfig model = Mixtral();
  EXPECT_TRUE(HasCountableSize(model));
  model.num_layers = 1000;
  model.hidden_size = 131072;
  model.num_experts = 65536;
  model.moe_ffn_hidden_size = 1048576;
  EXPECT_FALSE(HasCountableSize(model));
}

}  // namespace
}  // namespace trainyard
