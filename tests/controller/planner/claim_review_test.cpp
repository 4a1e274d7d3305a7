// Tests edge cases of claim reviews. tests/cli/commands/recipes/check_test.cpp reviews whole
// documents.
#include "controller/planner/claim_review.h"

#include "gtest/gtest.h"

namespace trainyard::planner {
namespace {

RunConfig SmallRun() {
  RunConfig config;
  config.model = {.num_layers = 32,
                  .hidden_size = 4096,
                  .ffn_hidden_size = 14336,
                  .num_attention_heads = 32,
                  .num_query_groups = 8,
                  .vocab_size = 128256};
  config.train.seq_length = 8192;
  config.train.global_batch = 128;
  config.train.steps = 100000;
  config.resources = {.nodes = 8, .slots_per_node = 8};
  config.layout.tp = config.layout.pp = config.layout.dp = 4;
  return config;
}

// Returns the only finding; if there is not exactly one finding, the number of findings.
std::string OnlyWhat(const RunConfig& config, const Claims& claims) {
  const std::vector<Finding> findings = ReviewClaims(config, claims);
  return findings.size() == 1 ? findings[0].what : std::to_string(findings.size()) + " findings";
}

std::string OnlyRight(const RunConfig& config, const Claims& claims) {
  const std::vector<Finding> findings = ReviewClaims(config, claims);
  return findings.size() == 1 ? findings[0].right : std::to_string(findings.size()) + " findings";
}

TEST(ClaimReviewTest, ClaimsThatFollowFromTheSettingsAreNoFindings) {
  Claims claims;
  EXPECT_EQ(ReviewClaims(SmallRun(), claims).size(), 0u);
  claims.parameters = ReadAmount("8B");
  claims.tokens = ReadAmount("105B");
  claims.data_parallel = 4;
  claims.even_stages = true;
  EXPECT_EQ(ReviewClaims(SmallRun(), claims).size(), 0u);
  EXPECT_EQ(ReviewClaims(RunConfig(), Claims()).size(), 0u);
}

TEST(ClaimReviewTest, AFigureMayBeRoundedAsItIsWritten) {
  EXPECT_EQ(OnlyWhat(SmallRun(), {.parameters = ReadAmount("8.0B")}), "0 findings");
  EXPECT_EQ(OnlyWhat(SmallRun(), {.parameters = ReadAmount("7.8B")}), "claimed parameters 7.8B");
  EXPECT_EQ(OnlyRight(SmallRun(), {.parameters = ReadAmount("9B")}), "8.03B");
}

TEST(ClaimReviewTest, StagesOfTheDocumentsTrainerMustDivide) {
  RunConfig config = SmallRun();
  config.layout.pp = 5;
  EXPECT_EQ(ReviewClaims(config, {}).size(), 0u);
  const Claims claims = {.even_stages = true};
  EXPECT_EQ(OnlyRight(config, claims).substr(0, 15), "layout.pp 4 or ");
}

TEST(ClaimReviewTest, LossAndOperationsFollowFromSizes) {
  RunConfig config = SmallRun();
  config.model.num_layers = 18;
  config.model.hidden_size = 2048;
  config.model.num_attention_heads = 16;
  config.model.ffn_hidden_size = 7168;
  config.train.tokens = 101'909'000'000;
  Claims claims = {.flops = ReadAmount("9.4e20"), .loss = ReadAmount("2.335")};
  EXPECT_EQ(ReviewClaims(config, claims).size(), 0u);
  claims.loss = ReadAmount("2.30");
  EXPECT_EQ(OnlyRight(config, claims), "2.335");
}

}  // namespace
}  // namespace trainyard::planner
