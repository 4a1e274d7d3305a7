// Layouts and times of runs with parts that trainyard-trainer lacks.
#include <gtest/gtest.h>

#include "controller/planner/described_config.h"
#include "controller/planner/layout_problem.h"
#include "controller/planner/layout_search.h"
#include "controller/planner/run_estimate.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

Cluster H100s(int64_t nodes) { return {FindDeviceSpec("H100"), nodes, 8, *FindNetwork("ndr")}; }

DescribedParts MixtureOf(int64_t count, int64_t topk, int64_t width) {
  return {.experts = {.count = count, .topk = topk, .ffn_hidden_size = width}};
}

// A dense model of Mixtral's active width, with the same attention.
RunSettings WideRun() { return Settings(Gated(32, 4096, 28672, 32, 32000, 8), 4096, 512, 2); }

TEST(DescribedSearchTest, ExpertsAreSpreadWithinDataParallelism) {
  const DescribedParts parts = MixtureOf(8, 2, 14336);
  const LayoutSearch search = SearchLayouts(WideRun().config, H100s(8), parts);
  ASSERT_TRUE(search.best.has_value());
  for (const PlannedLayout& planned : search.pareto) {
    EXPECT_EQ(8 % planned.layout.ep, 0);
    EXPECT_EQ(planned.layout.dp % planned.layout.ep, 0);
    EXPECT_TRUE(FitsInto(planned.memory, *FindDeviceSpec("H100")));
    RunConfig config = WideRun().config;
    config.layout = planned.layout;
    EXPECT_DOUBLE_EQ(PredictStep(config, H100s(8), parts).Total(), planned.step.Total());
  }
  EXPECT_GT(search.best->layout.ep, 1) << "46.7 B parameters";
  EXPECT_GT(search.best->memory.dispatch, 0);
}

TEST(DescribedSearchTest, WholeExpertsSpreadOverTensorParallelRanksToo) {
  DescribedParts parts = MixtureOf(64, 4, 2048);
  parts.has_whole_experts = true;
  const LayoutSearch search = SearchLayouts(WideRun().config, H100s(8), parts);
  ASSERT_TRUE(search.best.has_value());
  bool some_beyond = false;
  for (const PlannedLayout& planned : search.pareto) {
    some_beyond |= planned.layout.dp % planned.layout.ep != 0;
  }
  EXPECT_TRUE(some_beyond);
}

TEST(DescribedSearchTest, ATooLargeMixtureNamesTheSmallestCluster) {
  const DescribedParts parts = MixtureOf(64, 2, 14336);
  const LayoutSearch search = SearchLayouts(WideRun().config, H100s(1), parts);
  ASSERT_FALSE(search.best.has_value());
  const LayoutProblem problem = ProblemOf(search, WideRun().config, H100s(1), parts);
  ASSERT_TRUE(problem.fewest_nodes.has_value()) << problem.message;
  EXPECT_GT(*problem.fewest_nodes, 8) << "363 B parameters";
  EXPECT_TRUE(
      SearchLayouts(WideRun().config, H100s(*problem.fewest_nodes), parts).best.has_value());
}

// Eight experts of two that a token takes have the operations of a dense model of twice the width;
// on top come the transfers, and the rows that are sorted.
TEST(DescribedStepTest, ExpertsTakeTheTimeOfTheirRowsAndTransfers) {
  const RunConfig config = WideRun().Dp(8).config;
  const StepTime dense = PredictStep(config, H100s(1));
  const StepTime alone = PredictStep(config, H100s(1), MixtureOf(8, 2, 14336));
  EXPECT_GT(alone.compute, dense.compute);
  EXPECT_LT(alone.compute, 1.15 * dense.compute);
  EXPECT_EQ(alone.expert_wait, 0);
  const StepTime spread =
      PredictStep(WideRun().Dp(8).Ep(8).config, H100s(1), MixtureOf(8, 2, 14336));
  EXPECT_GT(spread.expert_wait, 0);
  EXPECT_EQ(dense.expert_wait, 0);
  const StepTime far =
      PredictStep(WideRun().Dp(64).Ep(64).config, H100s(8), MixtureOf(64, 2, 14336));
  EXPECT_GT(far.expert_wait * 8, 2 * spread.expert_wait) << "64 ranks do an eighth of the passes";
}

TEST(DescribedStepTest, Fp8IsFasterWhereProductsAreLargeAndNeverTwiceAsFast) {
  const RunConfig config = WideRun().Dp(8).config;
  const StepTime wide = PredictStep(config, H100s(1));
  const StepTime narrow = PredictStep(config, H100s(1), {.is_fp8 = true});
  EXPECT_LT(narrow.compute, 0.8 * wide.compute);
  EXPECT_GT(narrow.compute, 0.5 * wide.compute);
}

TEST(DescribedStepTest, LatentAttentionHasItsOwnProducts) {
  DescribedParts parts;
  parts.latent = {
      .query_rank = 1536, .key_rank = 512, .head_size = 128, .rotary_size = 64, .value_size = 128};
  const RunConfig config = Settings(Gated(4, 7168, 18432, 128, 129280), 4096, 8, 1).config;
  const BlockWork work = WorkOf(config, parts);
  const double attention =
      7168.0 * 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 + 512.0 * 128 * 256 + 128.0 * 128 * 7168;
  EXPECT_EQ(work.BlockParameters(), attention + 3 * 7168.0 * 18432);
  EXPECT_EQ(work.scored, 128 * (192 + 128) / 2.0);
}

TEST(DescribedStepTest, MfuInFp8IsOfItsPeak) {
  const RunConfig config = WideRun().Dp(8).config;
  const double wide = EstimateOf(config, H100s(1), 10).mfu;
  EXPECT_NEAR(EstimateOf(config, H100s(1), 10, {.is_fp8 = true}).mfu, wide * 989.4 / 1979, 1e-9);
}

TEST(DescribedStepTest, DevicesWithoutFp8AreRefused) {
  Cluster cluster = H100s(1);
  EXPECT_EQ(PrecisionProblem(WideRun().config, cluster, {.is_fp8 = true}), "");
  cluster.device = FindDeviceSpec("A100");
  EXPECT_NE(PrecisionProblem(WideRun().config, cluster, {.is_fp8 = true}).find("has no FP8"),
            std::string::npos);
}

}  // namespace
}  // namespace trainyard::planner
