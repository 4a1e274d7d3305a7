// Tests the memory of runs with experts, latent attention and FP8. memory_model_test.cpp compares
// dense runs with measurements.
#include "proto/memory/block_memory.h"

#include <gtest/gtest.h>

#include "proto/memory/memory_model.h"

namespace trainyard {
namespace {

RunConfig EightRanks() {
  RunConfig config;
  config.model = {.num_layers = 8,
                  .hidden_size = 1024,
                  .ffn_hidden_size = 4096,
                  .num_attention_heads = 16,
                  .num_query_groups = 8,
                  .vocab_size = 128256};
  config.train.seq_length = 2048;
  config.train.global_batch = 64;
  config.layout.dp = 8;
  config.layout.zero = 1;
  return config;
}

RunConfig WithExperts(RunConfig config, int64_t count, int64_t topk) {
  config.model.num_experts = count;
  config.model.moe_router_topk = topk;
  config.model.moe_ffn_hidden_size = 2048;
  return config;
}

MemoryPrediction MemoryOf(const RunConfig& config) { return PredictStageMemory(config, 0); }

MemoryPrediction MemoryOf(RunConfig config, Recompute recompute) {
  config.layout.recompute = recompute;
  return MemoryOf(config);
}

TEST(BlockMemoryTest, ExpertParallelRanksShareTheExperts) {
  RunConfig config = WithExperts(EightRanks(), 8, 2);
  const MemoryPrediction one = MemoryOf(config);
  config.layout.ep = 8;
  const MemoryPrediction all = MemoryOf(config);
  const double experts = 8.0 * 8 * 3 * 1024 * 2048;  // Layers, experts, matrices.
  EXPECT_NEAR(one.gradients - all.gradients, 4 * experts * 7 / 8, 1e6);
  EXPECT_NEAR(one.moments, all.moments, 1e6) << "sharded by ZeRO 1 as it is";
  EXPECT_DOUBLE_EQ(all.dispatch, 1.25 * one.dispatch) << "as many rows on average, and a reserve";
}

// A rank with one expert of two never receives a row twice, so the reserve is not needed.
TEST(BlockMemoryTest, TheReserveEndsAtAllRowsOfAllRanks) {
  RunConfig config = WithExperts(EightRanks(), 2, 2);
  const double one = MemoryOf(config).dispatch;
  config.layout.ep = 2;
  EXPECT_DOUBLE_EQ(MemoryOf(config).dispatch, one);
}

// Score gradients take at most 1 GiB in a piece of ranks that exchange heads, and 2 GiB in any
// call.
TEST(BlockMemoryTest, PiecesOfAttentionBoundTheWorkspace) {
  RunConfig config = EightRanks();
  config.layout.dp = 4;
  config.layout.cp = 2;
  config.layout.micro_batch = 8;
  config.train.seq_length = 8192;
  const BlockTensors heads = TensorsOf(config, BlockKind::kDense);
  constexpr double kGibibyte = 1 << 30;
  EXPECT_GT(heads.workspace, kGibibyte);
  EXPECT_LT(heads.workspace, 1.15 * kGibibyte);
  config.layout.cp_comm_type = ContextExchange::kP2p;
  const BlockTensors ring = TensorsOf(config, BlockKind::kDense);
  EXPECT_GT(ring.workspace, 2 * kGibibyte) << "instead of 4 for all samples";
  EXPECT_LT(ring.workspace, 2.3 * kGibibyte);
  config.train.deterministic = false;
  EXPECT_LT(TensorsOf(config, BlockKind::kDense).workspace, 0.7 * kGibibyte);
}

// The expected sum was calculated by hand: bytes per row and expert in each of eight layers.
TEST(BlockMemoryTest, ExpertsKeepWhatTheTrainerStashes) {
  const RunConfig config = WithExperts(EightRanks(), 8, 2);
  const double slots = 8.0 * 2048 * 2, rows = 2 * 1024, packed = 2 * 4096, activation = 2 * 2048;
  EXPECT_EQ(MemoryOf(config).dispatch, slots * (rows + packed + activation));
  EXPECT_EQ(MemoryOf(config, Recompute::kSelective).dispatch, slots * packed);
  EXPECT_EQ(MemoryOf(config, Recompute::kFull).activations, 8.0 * 2048 * 2 * 1024 + slots * 8)
      << "the input, and the choice of experts";
}

TEST(BlockMemoryTest, TheExpertsNeedMoreWorkingMemoryThanTheirLayerWithout) {
  RunConfig config = WithExperts(EightRanks(), 8, 2);
  config.model.vocab_size = 1024;  // Makes the head negligible.
  config.train.seq_length = 256;   // Makes attention negligible.
  config.layout.micro_batch = 8;
  const double alone = MemoryOf(config).working;
  const double rows = 2 * 2048 * 2.0;  // Two bf16 slots per token.
  EXPECT_GE(alone, rows * (2 * 1024 + 2 * 2048));
  config.layout.ep = 8;
  EXPECT_GT(MemoryOf(config).working, alone);
}

TEST(BlockMemoryTest, EachCopyOfARowIsKept) {
  const RunConfig config = WithExperts(EightRanks(), 8, 2);
  const double two = MemoryOf(config).dispatch;
  EXPECT_GT(two, 0);
  EXPECT_EQ(MemoryOf(WithExperts(EightRanks(), 8, 4)).dispatch, 2 * two);
  EXPECT_EQ(MemoryOf(config, Recompute::kFull).dispatch, 0);
  EXPECT_LT(MemoryOf(config, Recompute::kSelective).dispatch, two);
  EXPECT_EQ(MemoryOf(EightRanks()).dispatch, 0);
}

TEST(BlockMemoryTest, ACapacityLimitsTheRowsOfExperts) {
  RunConfig config = WithExperts(EightRanks(), 8, 2);
  const double balanced = MemoryOf(config).dispatch;
  const auto with_factor = [&config](double factor) {
    config.model.moe_expert_capacity_factor = factor;
    return MemoryOf(config).dispatch;
  };
  EXPECT_DOUBLE_EQ(with_factor(0.5), balanced / 2);
  EXPECT_DOUBLE_EQ(with_factor(1.5), balanced) << "a rank with all experts receives its own rows";
  config.layout.ep = 8;
  EXPECT_DOUBLE_EQ(with_factor(1.5), balanced * 1.5);
  EXPECT_DOUBLE_EQ(with_factor(100), balanced * 4)
      << "every token of 8 ranks, once instead of twice";
}

TEST(BlockMemoryTest, WholeExpertsGetTheRowsOfOneRank) {
  RunConfig config = WithExperts(EightRanks(), 8, 2);
  config.layout.tp = 4;
  const double cut = MemoryOf(config).dispatch;
  config.layout.etp = 1;
  EXPECT_LT(MemoryOf(config).dispatch, cut);
}

TEST(BlockMemoryTest, SelectiveRecomputationMakesLatentHeadsAgain) {
  RunConfig config = EightRanks();
  config.model.multi_latent_attention = true;
  config.model.q_lora_rank = 256;
  config.model.kv_lora_rank = 128;
  config.model.qk_head_dim = config.model.v_head_dim = 64;
  config.model.qk_pos_emb_head_dim = 32;
  const double kept = MemoryOf(config).activations;
  const double made = MemoryOf(config, Recompute::kSelective).activations;
  const double heads = 8.0 * 2048 * 2 * 16 * (96 + 160);  // Layers * rows * bytes * heads * widths.
  EXPECT_GT(kept - made, heads);
}

// A copy has one byte per weight. There is a second, transposed copy.
TEST(BlockMemoryTest, Fp8HasCopiesOfTheWeights) {
  RunConfig config = EightRanks();
  const MemoryPrediction wide = MemoryOf(config);
  config.train.fp8 = Fp8Recipe::kDelayed;
  const MemoryPrediction narrow = MemoryOf(config);
  const double of_block = 1024.0 * (2 * 1024 + 2 * 512 + 3 * 4096);
  EXPECT_EQ(narrow.activations, wide.activations);
  EXPECT_EQ(narrow.weights - wide.weights, 2 * 8 * of_block);
  EXPECT_GE(narrow.working, wide.working);
  EXPECT_EQ(narrow.moments, wide.moments);
  config.layout.zero = 3;
  const double sharded = MemoryOf(config).weights;
  config.train.fp8 = Fp8Recipe::kNone;
  EXPECT_EQ(sharded - MemoryOf(config).weights, 2 * of_block);
}

TEST(BlockMemoryTest, TheBlockWiseRecipeKeepsNarrowInputs) {
  RunConfig config = EightRanks();
  const MemoryPrediction wide = MemoryOf(config);
  config.train.fp8 = Fp8Recipe::kBlock;
  EXPECT_LT(MemoryOf(config).activations, wide.activations);
  EXPECT_GT(MemoryOf(config).weights, wide.weights);
}

TEST(BlockMemoryTest, MultiTokenPredictionNeedsMemoryOnTheLastStage) {
  RunConfig config = WithExperts(EightRanks(), 8, 2);
  config.layout.pp = 2;
  config.layout.dp = 4;
  // Keeps the number of layers, so that the division among the stages does not change.
  const auto weights_of = [&config](int64_t stage) {
    return PredictStageMemory(config, stage).weights;
  };
  const double first = weights_of(0), last = weights_of(1);
  config.model.mtp_num_layers = 1;
  config.model.num_layers = 1 + config.model.num_layers;
  EXPECT_GE(weights_of(0), first);
  // A block with its experts, the projection, and a copy of the token table.
  const double more = 8.0 * 3 * 1024 * 2048 + 2.0 * 1024 * 1024 + 128256.0 * 1024;
  EXPECT_GT(weights_of(1) + weights_of(0) - first - last, 2 * more);
  EXPECT_GT(PredictStageMemory(config, 1).working, 0);
}

// The first stage contains the dense layers and keeps activations of more forward passes than any
// other stage. The other stages contain more experts.
TEST(BlockMemoryTest, AMiddleStageMayNeedMost) {
  RunConfig config = WithExperts(EightRanks(), 64, 2);
  config.model.moe_dense_layers = 3;
  config.layout.pp = 4;
  config.layout.dp = 2;
  EXPECT_GT(PredictTrainingMemory(config).Total(), MemoryOf(config).Total());
}

// Recomputation begins with the first layers, which are the dense layers.
TEST(BlockMemoryTest, RecomputesTheFirstLayers) {
  RunConfig config = WithExperts(EightRanks(), 8, 2);
  config.model.moe_dense_layers = 3;
  const double kept = MemoryOf(config).dispatch;
  config.layout.recompute = Recompute::kFull;
  config.layout.recompute_num_layers = 3;
  EXPECT_EQ(MemoryOf(config).dispatch, kept);
  config.layout.recompute_num_layers = 4;
  EXPECT_DOUBLE_EQ(MemoryOf(config).dispatch, kept * 4 / 5);
}

}  // namespace
}  // namespace trainyard
