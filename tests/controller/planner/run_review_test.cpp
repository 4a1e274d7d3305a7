// Whole documents are reviewed in tests/cli/commands/recipes/check_test.cpp; these are the edges.
#include "controller/planner/run_review.h"

#include "gtest/gtest.h"

namespace trainyard::planner {
namespace {

DescribedRun SmallRun() {
  DescribedRun run;
  run.has_model = true;
  run.model.dense.num_layers = 32;
  run.model.dense.hidden_size = 4096;
  run.model.dense.ffn_hidden_size = 14336;
  run.model.dense.num_attention_heads = 32;
  run.model.dense.num_query_groups = 8;
  run.model.dense.vocab_size = 128256;
  run.batch = {.seq_length = 8192, .global_batch = 128, .micro_batch = 1, .steps = 100000};
  run.layout = {.gpus = 64, .tensor = 4, .pipeline = 4};
  return run;
}

// The only finding about the run, or what there is.
std::string OnlyWhat(const DescribedRun& run) {
  const std::vector<Finding> findings = ReviewRun(run);
  return findings.size() == 1 ? findings[0].what : std::to_string(findings.size()) + " findings";
}

std::string OnlyRight(const DescribedRun& run) {
  const std::vector<Finding> findings = ReviewRun(run);
  return findings.size() == 1 ? findings[0].right : std::to_string(findings.size()) + " findings";
}

TEST(RunReviewTest, ASoundRunHasNoFindings) {
  DescribedRun run = SmallRun();
  EXPECT_EQ(ReviewRun(run).size(), 0u);
  run.claims.parameters = ReadAmount("8B");
  run.claims.tokens = ReadAmount("105B");
  run.claims.data_parallel = 4;
  run.layout.sequence_parallel = true;
  run.blend = {0.5, 0.25, 0.25};
  EXPECT_EQ(ReviewRun(run).size(), 0u);
  EXPECT_EQ(ReviewRun(DescribedRun()).size(), 0u);
}

TEST(RunReviewTest, AFigureMayBeRoundedAsItIsWritten) {
  DescribedRun run = SmallRun();
  run.claims.parameters = ReadAmount("8.0B");
  EXPECT_EQ(ReviewRun(run).size(), 0u);
  run.claims.parameters = ReadAmount("7.8B");
  EXPECT_EQ(OnlyWhat(run), "`claimed-parameters` 7.8B");
  run.claims.parameters = ReadAmount("9B");
  EXPECT_EQ(OnlyRight(run), "8.03B");
}

TEST(RunReviewTest, RanksMustDivide) {
  DescribedRun run = SmallRun();
  run.layout.gpus = 40;
  EXPECT_EQ(OnlyRight(run), "48 GPUs, or another layout");
  run = SmallRun();
  run.batch.global_batch = 130;
  EXPECT_EQ(OnlyRight(run), "132");
  run = SmallRun();
  run.layout.pipeline = 5;
  run.layout.gpus = 0;
  EXPECT_EQ(OnlyRight(run).substr(0, 34), "pipeline-model-parallel-size 4 or ");
  run.layout.uneven_pipeline = true;
  EXPECT_EQ(ReviewRun(run).size(), 0u);
}

TEST(RunReviewTest, ExpertsLieInsideTheRanksOfAStage) {
  DescribedRun run = SmallRun();
  run.model.experts = {.count = 64, .topk = 2};
  run.layout.expert = 4;  // DP 4, with experts cut by TP 4.
  EXPECT_EQ(ReviewRun(run).size(), 0u);
  run.layout.expert = 16;  // TP x DP.
  EXPECT_EQ(OnlyRight(run),
            "expert-tensor-parallel-size 1: experts then spread over TP x CP x DP = 16 ranks");
  run.layout.expert_tensor = 1;
  EXPECT_EQ(ReviewRun(run).size(), 0u);
  run.layout.expert = 32;
  EXPECT_EQ(OnlyRight(run), "at most 4");
  run.layout.expert = 3;
  EXPECT_EQ(ReviewRun(run).size(), 2u) << "neither experts nor ranks divide";
}

TEST(RunReviewTest, TokensOfALengthInAnyUnit) {
  EXPECT_EQ(TokensOf({.seq_length = 4096, .samples = 10}), 40960);
  EXPECT_EQ(TokensOf({.seq_length = 4096, .global_batch = 2, .steps = 10}), 81920);
  EXPECT_EQ(TokensOf({.seq_length = 4096, .tokens = 5e9}), 5e9);
  EXPECT_EQ(TokensOf({}), 0);
}

TEST(RunReviewTest, LossAndOperationsFollowFromSizes) {
  DescribedRun run;
  run.claims.parameters = ReadAmount("1.545B");
  run.batch.tokens = 101.909e9;
  run.claims.loss = ReadAmount("2.335");
  run.claims.flops = ReadAmount("9.4e20");
  EXPECT_EQ(ReviewRun(run).size(), 0u);
  run.claims.loss = ReadAmount("2.30");
  EXPECT_EQ(OnlyRight(run), "2.335");
}

TEST(RunReviewTest, AJobIsReviewedByTheSameRules) {
  RunConfig config;
  config.layout.tp = 1;
  config.train.seq_length = 4096;
  config.train.samples = 3662109375;
  config.data.blend = {"0.594 /a", "0.218 /b", "0.158 /c", "0.03 /d"};
  EXPECT_TRUE(ReviewJob(config, false).empty());
  EXPECT_EQ(ReviewJob(config, true).size(), 1u) << "sequence parallelism that is written";
  config.data.blend = {"0.60 /a", "0.22 /b", "0.16 /c", "0.03 /d"};
  ASSERT_EQ(ReviewJob(config, false).size(), 1u);
  EXPECT_EQ(ReviewJob(config, false)[0].why, "the shares sum to 1.01");
  config.data.blend = {"3 /a", "1 /b"};
  EXPECT_TRUE(ReviewJob(config, false).empty()) << "weights in another unit";
  config.train.samples = 15000000000000;
  ASSERT_EQ(ReviewJob(config, false).size(), 1u);
  EXPECT_EQ(ReviewJob(config, false)[0].right, "train.samples 3662109375");
}

}  // namespace
}  // namespace trainyard::planner
