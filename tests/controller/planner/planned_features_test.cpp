// Tests layouts and step times of runs with experts, latent attention and FP8.
#include <gtest/gtest.h>

#include "controller/planner/block_work.h"
#include "controller/planner/layout_problem.h"
#include "controller/planner/layout_search.h"
#include "controller/planner/run_estimate.h"
#include "proto/rules/planned_features.h"
#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

Cluster H100s(int64_t nodes) { return {FindDeviceSpec("H100"), nodes, 8, *FindNetwork("ndr")}; }

// A dense model with the active width and the attention of Mixtral.
ModelConfig WideModel() { return Gated(32, 4096, 28672, 32, 32000, 8); }

RunSettings WideRun() { return Settings(WideModel(), 4096, 512, 2); }

RunSettings MixtureRun(int64_t count, int64_t topk, int64_t width) {
  return Settings(WithExperts(WideModel(), count, topk, width), 4096, 512, 2);
}

TEST(PlannedFeatureSearchTest, WholeExpertsAreSpreadOverAllRanksOfAStage) {
  const RunConfig run = MixtureRun(64, 4, 2048).config;
  const LayoutSearch search = SearchLayouts(run, H100s(8));
  ASSERT_TRUE(search.best.has_value());
  bool some_beyond = false;
  for (const PlannedLayout& planned : search.pareto) {
    RunConfig config = run;
    config.layout = planned.layout;
    EXPECT_EQ(planned.layout.etp, 1) << "divided experts are not needed";
    EXPECT_TRUE(FindExpertLayoutProblems(config).empty());
    EXPECT_TRUE(FitsInto(planned.memory, *FindDeviceSpec("H100")));
    EXPECT_DOUBLE_EQ(PredictStep(config, H100s(8)).Total(), planned.step.Total());
    some_beyond |= planned.layout.dp % planned.layout.ep != 0;
  }
  EXPECT_TRUE(some_beyond);
  EXPECT_GT(search.best->layout.ep, 1);
  EXPECT_GT(search.best->memory.dispatch, 0);
}

// Without sequence parallelism, tensor-parallel ranks would send the same rows.
TEST(PlannedFeatureSearchTest, LayoutsOfExpertsAreSequenceParallel) {
  RunConfig run = MixtureRun(8, 2, 14336).config;
  run.layout.sequence_parallel = false;
  const LayoutSearch search = SearchLayouts(run, H100s(8));
  ASSERT_TRUE(search.best.has_value());
  for (const PlannedLayout& planned : search.pareto) {
    EXPECT_TRUE(planned.layout.sequence_parallel);
  }
}

// An expert of 206 GB fits on no GPU. It is divided unless the job keeps experts whole.
TEST(PlannedFeatureSearchTest, ExpertsAreDividedOnlyIfWholeOnesDoNotFit) {
  const RunSettings run = MixtureRun(2, 1, 1048576);
  const LayoutSearch search = SearchLayouts(run.config, H100s(64));
  ASSERT_TRUE(search.best.has_value());
  EXPECT_GT(search.best->layout.etp, 1);
  EXPECT_FALSE(SearchLayouts(run.WholeExperts().config, H100s(64)).best.has_value());
}

void ExpectRefused(const RunConfig& run, const Cluster& cluster, const std::string& reason) {
  const LayoutSearch search = SearchLayouts(run, cluster);
  EXPECT_FALSE(search.best.has_value());
  EXPECT_TRUE(search.lost.contains(reason)) << reason;
}

// Four ranks of one micro-batch need tensor parallelism, which cannot divide an odd width.
TEST(PlannedFeatureSearchTest, WholeExpertsCanHaveAnyWidth) {
  RunConfig run =
      Settings(WithExperts(Gated(1, 4096, 28672, 32, 32000, 8), 8, 2, 1411), 1020, 1, 1).config;
  const Cluster cluster = {FindDeviceSpec("H100"), 1, 4, *FindNetwork("ndr")};
  const LayoutSearch search = SearchLayouts(run, cluster);
  ASSERT_TRUE(search.best.has_value());
  EXPECT_GT(search.best->layout.tp, 1);
  EXPECT_EQ(search.best->layout.etp, 1);
  run.layout = search.best->layout;
  EXPECT_TRUE(FindFeatureProblems(run).empty());
  ExpectRefused(MixtureRun(2, 1, 1048577).config, H100s(64),
                "breaks a rule of model.moe_ffn_hidden_size");
}

// Without the setting, the search distributes the experts.
TEST(PlannedFeatureSearchTest, GradientNoiseKeepsExpertsOnOneRank) {
  RunConfig run = MixtureRun(64, 4, 2048).config;
  run.train.gradient_noise_scale = true;
  const LayoutSearch search = SearchLayouts(run, H100s(8));
  ASSERT_TRUE(search.best.has_value());
  for (const PlannedLayout& planned : search.pareto) {
    EXPECT_EQ(planned.layout.ep, 1);
    EXPECT_EQ(planned.layout.tp, 1);
    run.layout = planned.layout;
    EXPECT_TRUE(FindUntrainable(run).empty());
  }
}

// With one stage, a rank has an expert of 0.5 B parameters in each of the 32 layers.
TEST(PlannedFeatureSearchTest, CopiesOfAClippedEmbeddingAreRefused) {
  RunConfig run = MixtureRun(2, 1, 40960).WholeExperts().config;
  run.model.mtp_num_layers = 1;
  const LayoutSearch search = SearchLayouts(run, H100s(8));
  ASSERT_TRUE(search.best.has_value());
  EXPECT_GT(search.best->layout.pp, 1);
  run.optimizer.adaptive_clip = 0.1;
  ExpectRefused(run, H100s(8), "breaks a rule of optimizer.adaptive_clip");
  run.model.untie_embeddings_and_output_weights = false;
  EXPECT_TRUE(SearchLayouts(run, H100s(8)).best.has_value()) << "a tied table is never clipped";
}

// An expert with its optimizer state has 515 GB and fits only on eight GPUs. Routers on GPUs
// support four parts of 128 experts.
TEST(PlannedFeatureSearchTest, RoutersOnGpusLimitThePartsOfExperts) {
  const ModelConfig model = WithExperts(Gated(1, 10240, 28672, 80, 32000, 8), 128, 1, 1048576);
  RunConfig run = Settings(model, 1024, 512, 1).config;
  run.resources.device = DeviceKind::kCpu;
  const LayoutSearch search = SearchLayouts(run, H100s(128));
  ASSERT_TRUE(search.best.has_value());
  EXPECT_EQ(search.best->layout.etp, 8);
  run.resources.device = DeviceKind::kGpu;
  ExpectRefused(run, H100s(128), "breaks a rule of model.num_experts");
}

// A run can be planned even if the trainer refuses it in every layout.
TEST(PlannedFeatureSearchTest, LimitsOfAllLayoutsExcludeNone) {
  RunConfig run = MixtureRun(520, 2, 256).config;
  run.train.fp8 = Fp8Recipe::kBlock;
  ASSERT_EQ(FindUntrainable(run).size(), 2u);
  EXPECT_TRUE(SearchLayouts(run, H100s(8)).best.has_value());
}

TEST(PlannedFeatureSearchTest, ATooLargeMixtureNamesTheSmallestCluster) {
  const RunConfig config = MixtureRun(64, 2, 14336).config;
  const LayoutSearch search = SearchLayouts(config, H100s(1));
  ASSERT_FALSE(search.best.has_value());
  const LayoutProblem problem = ProblemOf(search, config, H100s(1));
  ASSERT_TRUE(problem.fewest_nodes.has_value()) << problem.message;
  EXPECT_GT(*problem.fewest_nodes, 8) << "363 B parameters";
  EXPECT_TRUE(SearchLayouts(config, H100s(*problem.fewest_nodes)).best.has_value());
}

// With eight experts and two per token, the experts need as many operations as a dense feed-forward
// half of twice the width. Transfers and the sorting of rows take additional time.
TEST(PlannedFeatureStepTest, ExpertsTakeTheTimeOfTheirRowsAndTransfers) {
  const RunSettings mixture = MixtureRun(8, 2, 14336).Dp(8);
  const StepTime dense = PredictStep(WideRun().Dp(8).config, H100s(1));
  const StepTime alone = PredictStep(mixture.config, H100s(1));
  EXPECT_GT(alone.compute, dense.compute);
  EXPECT_LT(alone.compute, 1.2 * dense.compute);
  EXPECT_EQ(alone.expert_wait, 0);
  const StepTime spread = PredictStep(mixture.Ep(8).config, H100s(1));
  EXPECT_GT(spread.expert_wait, 0);
  EXPECT_EQ(dense.expert_wait, 0);
  const StepTime far = PredictStep(MixtureRun(64, 2, 14336).Dp(64).Ep(64).config, H100s(8));
  EXPECT_GT(far.expert_wait * 8, 2 * spread.expert_wait) << "64 ranks do an eighth of the passes";
}

TEST(PlannedFeatureStepTest, Fp8IsFasterWhereProductsAreLargeAndNeverTwiceAsFast) {
  const StepTime wide = PredictStep(WideRun().Dp(8).config, H100s(1));
  const StepTime narrow = PredictStep(WideRun().Dp(8).Fp8().config, H100s(1));
  EXPECT_LT(narrow.compute, 0.8 * wide.compute);
  EXPECT_GT(narrow.compute, 0.5 * wide.compute);
}

TEST(PlannedFeatureStepTest, LatentAttentionHasItsOwnProducts) {
  const ModelConfig model = WithLatentAttention(Gated(4, 7168, 18432, 128, 129280));
  const BlockWork work = WorkOf(Settings(model, 4096, 8, 1).config);
  const double attention =
      7168.0 * 1536 + 1536.0 * 128 * 192 + 7168.0 * 576 + 512.0 * 128 * 256 + 128.0 * 128 * 7168;
  EXPECT_EQ(work.BlockParameters(), attention + 3 * 7168.0 * 18432);
  EXPECT_EQ(work.scored, 128 * (192 + 128) / 2.0);
}

// The vocabulary is so small that the head of the module hardly counts.
TEST(PlannedFeatureStepTest, ModulesOfMultiTokenPredictionHaveAProjection) {
  RunConfig run = Settings(Gated(4, 8192, 8192, 64, 128), 4096, 2, 2).config;
  run.model.num_layers = 5;
  const StepTime deeper = PredictStep(run, H100s(1));
  run.model.num_layers = 4;
  run.model.mtp_num_layers = 1;
  const StepTime predicts = PredictStep(run, H100s(1));
  const double least = 6 * 2 * 8192.0 * 8192 * 2 * 4096 / 989.4e12;
  EXPECT_GT(predicts.compute - deeper.compute, least);
  EXPECT_LT(predicts.compute - deeper.compute, 2.5 * least);
  EXPECT_GT(predicts.optimizer, deeper.optimizer);
}

TEST(PlannedFeatureStepTest, TheLastStageUpdatesItsCopyOfTheEmbedding) {
  RunConfig run = Settings(Gated(4, 1024, 4096, 8, 256000), 4096, 8, 1).Pp(2).config;
  run.model.mtp_num_layers = 1;
  const StepTime untied = PredictStep(run, H100s(1));
  run.model.untie_embeddings_and_output_weights = false;
  EXPECT_GT(untied.optimizer, 1.5 * PredictStep(run, H100s(1)).optimizer);
}

TEST(PlannedFeatureStepTest, MfuInFp8IsOfItsPeak) {
  const double wide = EstimateOf(WideRun().Dp(8).config, H100s(1), 10).mfu;
  EXPECT_NEAR(EstimateOf(WideRun().Dp(8).Fp8().config, H100s(1), 10).mfu, wide * 989.4 / 1979,
              1e-9);
}

TEST(PlannedFeatureStepTest, DevicesWithoutFp8AreRefused) {
  Cluster cluster = H100s(1);
  EXPECT_EQ(PrecisionProblem(WideRun().Fp8().config, cluster), "");
  cluster.device = FindDeviceSpec("A100");
  EXPECT_NE(PrecisionProblem(WideRun().Fp8().config, cluster).find("has no FP8"),
            std::string::npos);
}

}  // namespace
}  // namespace trainyard::planner
