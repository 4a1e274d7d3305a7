#include "controller/planner/described_memory.h"

#include <gtest/gtest.h>

#include "controller/planner/described_config.h"
#include "controller/planner/layout_search.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

DescribedParts WithExperts(int64_t count, int64_t topk) {
  return {.experts = {.count = count, .topk = topk, .ffn_hidden_size = 2048}};
}

RunSettings EightRanks() { return Settings(Llama(8, 1024, 4096, 16), 2048, 64, 1).Dp(8).Zero(1); }

MemoryPrediction MemoryOf(const RunSettings& run, const DescribedParts& parts) {
  return DescribedStageMemory(run.config, parts, 0);
}

// Without any part the contract's prediction of a dense run comes out, but for the moment of the
// step at which most is held.
TEST(DescribedMemoryTest, ADenseRunNeedsWhatTheContractSays) {
  for (const RunSettings& run :
       {EightRanks(), EightRanks().Zero(3), EightRanks().Full(), EightRanks().Tp(2).Selective()}) {
    const MemoryPrediction described = MemoryOf(run, {});
    const MemoryPrediction known = PredictStageMemory(run.config, 0);
    EXPECT_NEAR(described.weights, known.weights, 0.001 * known.weights);
    EXPECT_NEAR(described.gradients, known.gradients, 0.001 * known.gradients);
    EXPECT_NEAR(described.moments, known.moments, 0.001 * known.moments);
    EXPECT_NEAR(described.activations, known.activations, 0.01 * known.activations);
    EXPECT_NEAR(described.working, known.working, 0.3 * known.working);
    EXPECT_EQ(described.overhead, known.overhead);
    EXPECT_EQ(described.dispatch, 0);
  }
}

TEST(DescribedMemoryTest, ExpertParallelRanksShareTheExperts) {
  const DescribedParts parts = WithExperts(8, 2);
  const MemoryPrediction one = MemoryOf(EightRanks(), parts),
                         all = MemoryOf(EightRanks().Ep(8), parts);
  const double experts = 8.0 * 8 * 3 * 1024 * 2048;  // Layers, experts, matrices.
  EXPECT_NEAR(one.gradients - all.gradients, 4 * experts * 7 / 8, 1e6);
  EXPECT_NEAR(one.moments, all.moments, 1e6) << "sharded by ZeRO 1 as it is";
  EXPECT_EQ(one.dispatch, all.dispatch) << "as many rows, of all ranks' tokens";
}

TEST(DescribedMemoryTest, EachCopyOfARowIsKept) {
  const double two = MemoryOf(EightRanks(), WithExperts(8, 2)).dispatch;
  EXPECT_GT(two, 0);
  EXPECT_EQ(MemoryOf(EightRanks(), WithExperts(8, 4)).dispatch, 2 * two);
  EXPECT_EQ(MemoryOf(EightRanks().Full(), WithExperts(8, 2)).dispatch, 0);
  EXPECT_LT(MemoryOf(EightRanks().Selective(), WithExperts(8, 2)).dispatch, two);
}

TEST(DescribedMemoryTest, WholeExpertsGetTheRowsOfOneRank) {
  DescribedParts parts = WithExperts(8, 2);
  const double cut = MemoryOf(EightRanks().Tp(4), parts).dispatch;
  parts.has_whole_experts = true;
  EXPECT_LT(MemoryOf(EightRanks().Tp(4), parts).dispatch, cut);
}

TEST(DescribedMemoryTest, SelectiveRecomputationMakesLatentHeadsAgain) {
  DescribedParts parts;
  parts.latent = {
      .query_rank = 256, .key_rank = 128, .head_size = 64, .rotary_size = 32, .value_size = 64};
  const MemoryPrediction kept = MemoryOf(EightRanks(), parts);
  const MemoryPrediction made = MemoryOf(EightRanks().Selective(), parts);
  const double heads = 8.0 * 2048 * 2 * 16 * (96 + 160);  // Layers, rows, bytes, heads, widths.
  EXPECT_GT(kept.activations - made.activations, heads);
}

TEST(DescribedMemoryTest, Fp8KeepsNarrowInputsAndCopiesOfTheWeights) {
  const MemoryPrediction wide = MemoryOf(EightRanks(), {}),
                         narrow = MemoryOf(EightRanks(), {.is_fp8 = true});
  EXPECT_LT(narrow.activations, wide.activations);
  EXPECT_GT(narrow.weights, wide.weights);
  EXPECT_EQ(narrow.moments, wide.moments);
}

// The first stage has the dense layers and keeps most passes; others have more experts.
TEST(DescribedMemoryTest, ThePeakIsThatOfTheStageThatNeedsMost) {
  DescribedParts parts = WithExperts(64, 2);
  parts.experts.dense_layers = 3;
  const RunSettings run = EightRanks().Pp(4).Dp(2);
  int64_t stage = 0;
  const double peak = PeakMemory(run.config, stage, parts).Total();
  EXPECT_NE(stage, 0);
  for (int64_t other = 0; other < 4; ++other) {
    EXPECT_LE(DescribedStageMemory(run.config, parts, other).Total(), peak);
  }
}

DescribedRun MixtralRun() {
  DescribedRun run;
  run.name = "mixtral";
  run.has_model = true;
  run.model.dense = Gated(32, 4096, 14336, 32, 32000, 8);
  run.model.experts = {.count = 8, .topk = 2};
  run.batch = {.seq_length = 4096, .global_batch = 512, .micro_batch = 2, .steps = 1000};
  run.layout = {.gpus = 64, .pipeline = 4, .expert = 8};
  return run;
}

TEST(DescribedConfigTest, HasTheDocumentsLayoutAndTheWidthThatATokenTakes) {
  const RunConfig config = ConfigOf(MixtralRun());
  EXPECT_EQ(config.layout.dp, 16);
  EXPECT_EQ(config.layout.ep, 8);
  EXPECT_EQ(config.layout.zero, 1);
  EXPECT_EQ(config.layout.micro_batch, 2);
  EXPECT_EQ(config.resources.nodes, 8);
  EXPECT_EQ(config.train.steps, 1000);
  EXPECT_EQ(config.model.ffn_hidden_size, 2 * 14336);
  EXPECT_EQ(PartsOf(MixtralRun()).experts.ffn_hidden_size, 14336);
  DescribedRun dense_first = MixtralRun();
  dense_first.model.experts.dense_layers = 1;
  EXPECT_EQ(ConfigOf(dense_first).model.ffn_hidden_size, 14336);
}

TEST(DescribedConfigTest, NamesWhatIsMissing) {
  EXPECT_EQ(MissingForPlan(MixtralRun()), "");
  DescribedRun run = MixtralRun();
  run.batch.steps = 0;
  EXPECT_EQ(MissingForPlan(run), "train-iters");
  run.batch.global_batch = 0;
  EXPECT_EQ(MissingForPlan(run), "global-batch-size");
  run.batch.seq_length = 0;
  EXPECT_EQ(MissingForPlan(run), "seq-length");
  run.has_model = false;
  EXPECT_EQ(MissingForPlan(run), "num-layers");
}

}  // namespace
}  // namespace trainyard::planner
