#include "trainer/run/rehearsal.h"

#include <gtest/gtest.h>

#include "proto/model/model_size.h"
#include "tests/trainer/step/layout_cases.h"
#include "tests/trainer/step/layout_run.h"

namespace trainyard::trainer {
namespace {

// DeepSeek-V3 in its published sizes.
RunConfig LargeRun() {
  RunConfig config = SmallRun();
  ModelConfig& model = config.model;
  model.num_layers = 61;
  model.hidden_size = 7168;
  model.ffn_hidden_size = 18432;
  model.num_attention_heads = model.num_query_groups = 128;
  model.vocab_size = 129280;
  model.multi_latent_attention = true;
  model.q_lora_rank = 1536;
  model.kv_lora_rank = 512;
  model.qk_head_dim = model.v_head_dim = 128;
  model.qk_pos_emb_head_dim = 64;
  model.num_experts = 256;
  model.moe_router_topk = 8;
  model.moe_ffn_hidden_size = 2048;
  model.moe_dense_layers = 3;
  config.layout = {.tp = 2, .ep = 32, .dp = 64, .pp = 16, .micro_batch = 2, .etp = 1};
  return config;
}

TEST(RehearsalTest, ALargeModelBecomesSmall) {
  const RunConfig large = LargeRun();
  ASSERT_GT(ParameterCount(large.model), 600'000'000'000);
  const RunConfig small = SmallForm(large);
  EXPECT_LT(ParameterCount(small.model), 100'000'000);
  EXPECT_EQ(RanksOf(small.layout), 1);
}

TEST(RehearsalTest, KeepsWhatSelectsKernels) {
  const RunConfig large = LargeRun(), small = SmallForm(large);
  EXPECT_EQ(small.model.num_layers, 4);  // Three dense layers and one with experts.
  EXPECT_EQ(small.model.num_experts, 256);
  EXPECT_EQ(small.model.moe_router_topk, 8);
  EXPECT_EQ(QueryHeadSize(small.model), QueryHeadSize(large.model));
  RunConfig dense = SmallRun();
  dense.model.hidden_size = 4096;
  dense.model.num_attention_heads = 32;
  dense.model.num_query_groups = 8;
  EXPECT_EQ(QueryHeadSize(SmallForm(dense).model), 128);
  EXPECT_EQ(SmallForm(dense).model.num_attention_heads, 4);
}

// Each kind of model that any layout is tested with.
TEST(RehearsalTest, EveryKindOfModelTrainsAStep) {
  for (const LayoutCase& layout : LayoutCases()) {
    RunConfig config = SmallRun();
    layout.edit(config);
    EXPECT_NO_THROW(RehearseStep(config, torch::kCPU)) << layout.name;
  }
}

}  // namespace
}  // namespace trainyard::trainer
