#include "proto/rules/planned_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/rules/run_rules.h"

namespace trainyard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> FeatureMessages(const std::vector<SettingProblem>& problems) {
  std::vector<std::string> messages;
  for (const SettingProblem& problem : problems) messages.push_back(problem.message);
  return messages;
}

RunConfig Mixture() {
  RunConfig config;
  config.model.num_layers = 4;
  config.model.num_attention_heads = config.model.num_query_groups = 4;
  config.model.hidden_size = config.model.ffn_hidden_size = 64;
  config.model.num_experts = 8;
  config.model.moe_router_topk = 2;
  config.layout.dp = 4;
  return config;
}

RunConfig Latent() {
  RunConfig config = Mixture();
  config.model.num_experts = config.model.moe_router_topk = 0;
  config.model.multi_latent_attention = true;
  config.model.kv_lora_rank = 16;
  config.model.qk_head_dim = config.model.qk_pos_emb_head_dim = config.model.v_head_dim = 8;
  return config;
}

std::vector<std::string> FeatureProblems(const RunConfig& config) {
  return FeatureMessages(FindFeatureProblems(config));
}

TEST(PlannedFeaturesTest, SoundFeaturesKeepTheRules) {
  EXPECT_THAT(FeatureProblems(RunConfig()), IsEmpty());
  EXPECT_THAT(FeatureProblems(Mixture()), IsEmpty());
  EXPECT_THAT(FeatureProblems(Latent()), IsEmpty());
}

TEST(PlannedFeaturesTest, ExpertsNeedARouter) {
  RunConfig config = Mixture();
  config.model.moe_router_topk = 0;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre(HasSubstr("`model.moe_router_topk` is missing")));
  config.model.moe_router_topk = 9;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre(HasSubstr("(9) must not be above `model.num_experts`")));
  config = Mixture();
  config.model.moe_dense_layers = 4;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre(HasSubstr("(4) must be below `model.num_layers` (4)")));
}

TEST(PlannedFeaturesTest, GroupsDivideTheExperts) {
  RunConfig config = Mixture();
  config.model.moe_router_num_groups = 4;
  config.model.moe_router_group_topk = 2;
  EXPECT_THAT(FeatureProblems(config), IsEmpty());
  config.model.moe_router_topk = 5;
  EXPECT_THAT(
      FeatureProblems(config),
      ElementsAre("`model.moe_router_group_topk` (2) groups of 2 experts have fewer experts "
                  "than `model.moe_router_topk` (5)"));
  config = Mixture();
  config.model.moe_router_group_topk = 2;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`model.moe_router_group_topk` needs `model.moe_router_num_groups`"));
  config.model.moe_router_num_groups = 8;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`model.moe_router_num_groups` (8) must divide `model.num_experts` (8) "
                          "into groups of at least 2 experts"));
  config.model.moe_router_num_groups = 3;
  config.model.moe_router_group_topk = 4;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`model.moe_router_group_topk` must be from 1 to "
                          "`model.moe_router_num_groups` (3)",
                          HasSubstr("(3) must divide")));
}

TEST(PlannedFeaturesTest, TheExpertBiasNeedsSigmoidScores) {
  RunConfig config = Mixture();
  config.model.moe_router_bias_update_rate = 0.01;
  EXPECT_THAT(FeatureProblems(config), ElementsAre("`model.moe_router_bias_update_rate` needs "
                                                   "`model.moe_router_enable_expert_bias`"));
  config.model.moe_router_enable_expert_bias = true;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre(HasSubstr("needs `model.moe_router_score_function` sigmoid")));
  config.model.moe_router_score_function = RouterScoreFunction::kSigmoid;
  EXPECT_THAT(FeatureProblems(config), IsEmpty());
}

TEST(PlannedFeaturesTest, ADropPolicyNeedsACapacity) {
  RunConfig config = Mixture();
  config.model.moe_token_drop_policy = TokenDropPolicy::kPosition;
  EXPECT_THAT(FeatureProblems(config), ElementsAre("`model.moe_token_drop_policy` needs "
                                                   "`model.moe_expert_capacity_factor`"));
  config.model.moe_expert_capacity_factor = 1.25;
  EXPECT_THAT(FeatureProblems(config), IsEmpty());
  config.model.num_experts = config.model.moe_router_topk = 0;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`model.moe_expert_capacity_factor` needs `model.num_experts`",
                          "`model.moe_token_drop_policy` needs `model.num_experts`"));
}

TEST(PlannedFeaturesTest, SettingsOfExpertsNeedExperts) {
  RunConfig config = Mixture();
  config.model.num_experts = 0;
  config.model.moe_router_score_function = RouterScoreFunction::kSigmoid;
  config.layout.etp = 1;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`model.moe_router_topk` needs `model.num_experts`",
                          "`model.moe_router_score_function` needs `model.num_experts`",
                          "`layout.etp` needs `model.num_experts`"));
}

TEST(PlannedFeaturesTest, TheCountOfParametersMustFit) {
  RunConfig config = Mixture();
  config.model.num_layers = 1000;
  config.model.hidden_size = 131072;
  config.model.num_experts = 65536;
  config.model.moe_ffn_hidden_size = 1048576;
  EXPECT_THAT(FeatureProblems(config), ElementsAre(HasSubstr("more than 9.2e18 parameters")));
}

TEST(PlannedFeaturesTest, LatentAttentionNeedsItsSizes) {
  RunConfig config = Latent();
  config.model.v_head_dim = 0;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre(HasSubstr("`model.multi_latent_attention` needs its sizes")));
  config = Latent();
  config.model.num_query_groups = 2;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre(HasSubstr("`model.num_query_groups` (2) cannot be combined with")));
  config = Latent();
  config.model.multi_latent_attention = false;
  EXPECT_EQ(FeatureProblems(config).size(), 4u);
  EXPECT_THAT(FeatureProblems(config)[0],
              "`model.kv_lora_rank` needs `model.multi_latent_attention`");
}

TEST(PlannedFeaturesTest, MultiTokenPredictionNeedsRotaryPositions) {
  RunConfig config;
  config.model.mtp_loss_scaling_factor = 0.3;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`model.mtp_loss_scaling_factor` needs `model.mtp_num_layers`"));
  config.model.mtp_num_layers = 1;
  EXPECT_THAT(FeatureProblems(config), IsEmpty());
  config.model.position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  EXPECT_THAT(
      FeatureProblems(config),
      ElementsAre(HasSubstr("`model.mtp_num_layers` needs `model.position_embedding_type`")));
}

TEST(PlannedFeaturesTest, CopiesOfTheEmbeddingAreNotClipped) {
  RunConfig config;
  config.model.mtp_num_layers = 1;
  config.layout.pp = 2;
  EXPECT_THAT(FindUntrainable(config), IsEmpty());
  config.optimizer.adaptive_clip = 0.1;
  EXPECT_THAT(FeatureMessages(FindUntrainable(config)),
              ElementsAre("`optimizer.adaptive_clip` cannot be combined with "
                          "`model.mtp_num_layers` and `layout.pp` (2), because two stages have a "
                          "copy of the embedding; set `layout.pp` to 1 or remove "
                          "`optimizer.adaptive_clip`"));
  config.model.untie_embeddings_and_output_weights = false;
  EXPECT_THAT(FindUntrainable(config), IsEmpty()) << "a tied table is never clipped";
}

TEST(PlannedFeaturesTest, LatentAttentionRefusesSettingsOfPlainAttention) {
  RunConfig config = Latent();
  config.model.kv_channels = 8;
  config.model.qk_layernorm = true;
  config.model.rotary_percent = 0.5;
  config.model.position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre(HasSubstr("`model.kv_channels` cannot be combined with"),
                          HasSubstr("`model.qk_layernorm` cannot be combined with"),
                          HasSubstr("`model.rotary_percent` cannot be combined with"),
                          HasSubstr("`model.position_embedding_type` cannot be combined with")));
}

TEST(PlannedFeaturesTest, OnCpusTheTrainerHasLatentAttention) {
  RunConfig config = Latent();
  config.resources.device = DeviceKind::kCpu;
  EXPECT_THAT(FeatureMessages(FindUntrainable(config)), IsEmpty());
}

TEST(PlannedFeaturesTest, BiasesOfQueriesKeysAndValuesNeedPlainAttention) {
  RunConfig config = Mixture();
  config.model.add_qkv_bias = true;
  EXPECT_THAT(FeatureProblems(config), IsEmpty());
  config = Latent();
  config.model.add_qkv_bias = true;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre(HasSubstr("`model.add_qkv_bias` needs plain attention")));
  config = RunConfig();
  config.model.add_bias_linear = config.model.add_qkv_bias = true;
  EXPECT_THAT(FeatureProblems(config), Contains(HasSubstr("keep one of them")));
}

TEST(PlannedFeaturesTest, ExpertsAndLatentAttentionHaveNoBiases) {
  for (RunConfig config : {Mixture(), Latent()}) {
    config.model.add_bias_linear = true;
    EXPECT_THAT(FeatureProblems(config),
                ElementsAre(HasSubstr("`model.add_bias_linear` is only for dense")));
  }
}

TEST(PlannedFeaturesTest, Fp8SettingsNeedTheirRecipe) {
  RunConfig config;
  config.train.fp8 = Fp8Recipe::kBlock;
  config.train.fp8_amax_history_len = 1024;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`train.fp8_amax_history_len` needs `train.fp8` delayed"));
  config.train.fp8 = Fp8Recipe::kDelayed;
  EXPECT_THAT(FeatureProblems(config), IsEmpty());
  config.train.precision = Precision::kFp32;
  EXPECT_THAT(FeatureProblems(config), ElementsAre("`train.fp8` needs `train.precision` bf16"));
  config.resources.device = DeviceKind::kCpu;
  EXPECT_THAT(FeatureProblems(config), IsEmpty());
  config.train.precision = Precision::kBf16;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`train.fp8` on CPUs needs `train.precision` fp32"));
}

TEST(PlannedFeaturesTest, ExpertsAreWholeOrDividedLikeOtherMatrices) {
  RunConfig config = Mixture();
  config.layout.tp = 4;
  for (const int64_t size : {0, 1, 4}) {
    config.layout.etp = size;
    EXPECT_THAT(FeatureProblems(config), IsEmpty()) << size;
  }
  config.layout.etp = 2;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`layout.etp` (2) must be 1 or `layout.tp` (4)"));
  config = Mixture();
  config.layout.ep = 3;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`model.num_experts` (8) must be a multiple of `layout.ep` (3)"));
}

TEST(PlannedFeaturesTest, DividedExpertsHaveEqualParts) {
  RunConfig config = Mixture();
  config.layout.tp = 4;
  config.model.moe_ffn_hidden_size = 1410;
  EXPECT_THAT(FeatureProblems(config),
              ElementsAre("`model.moe_ffn_hidden_size` (1410) must be a multiple of `layout.tp` "
                          "(4), or set `layout.etp` to 1 to keep experts whole"));
  config.layout.etp = 1;
  EXPECT_THAT(FeatureProblems(config), IsEmpty());
}

TEST(PlannedFeaturesTest, WholeExpertsSpreadOverAllRanksOfAStage) {
  const auto problems = [](const RunConfig& config) {
    return FeatureMessages(FindExpertLayoutProblems(config));
  };
  RunConfig config = Mixture();
  config.layout.tp = 2;
  config.layout.ep = 8;
  EXPECT_THAT(
      problems(config),
      ElementsAre("`layout.dp` (4) must be a multiple of `layout.ep` (8); with `layout.etp` "
                  "1 the experts are spread over tp * cp * dp = 8 ranks"));
  config.layout.etp = 1;
  EXPECT_THAT(problems(config), IsEmpty());
  config.layout.ep = 16;
  EXPECT_THAT(problems(config),
              ElementsAre("tp * cp * dp (8) must be a multiple of `layout.ep` (16)"));
}

TEST(PlannedFeaturesTest, FeaturesHaveNames) {
  EXPECT_THAT(FeaturesOf(RunConfig()), IsEmpty());
  RunConfig config = Latent();
  config.model.num_experts = 8;
  config.train.fp8 = Fp8Recipe::kDelayed;
  EXPECT_THAT(FeaturesOf(config),
              ElementsAre("mixture of experts", "latent attention", "FP8 arithmetic"));
}

TEST(PlannedFeaturesTest, RefusesWhatTheTrainerLacks) {
  RunConfig config = Latent();
  config.model.num_experts = 8;
  config.train.fp8 = Fp8Recipe::kBlock;
  EXPECT_THAT(FeatureMessages(FindUntrainable(config)),
              ElementsAre(HasSubstr("`train.fp8` block cannot be trained yet; set `train.fp8` to "
                                    "delayed or current")));
  config.train.fp8 = Fp8Recipe::kDelayed;
  EXPECT_THAT(FeatureMessages(FindUntrainable(config)),
              ElementsAre(HasSubstr("`train.fp8` has no effect on this run, because none of its "
                                    "products can use FP8 (latent attention: not in FP8)")));
}

TEST(PlannedFeaturesTest, RefusesFp8WhereNoProductCanUseIt) {
  RunConfig config;
  config.model.num_layers = 2;
  config.model.hidden_size = config.model.ffn_hidden_size = 64;
  config.model.num_attention_heads = config.model.num_query_groups = 4;
  config.train.seq_length = 64;
  config.train.fp8 = Fp8Recipe::kCurrent;
  EXPECT_THAT(FindUntrainable(config), IsEmpty());
  config.train.seq_length = 63;
  EXPECT_THAT(FeatureMessages(FindUntrainable(config)),
              ElementsAre(HasSubstr("tokens of a sample on a rank (63) is not a multiple of 16")));
}

TEST(PlannedFeaturesTest, OnGpusTheTrainerHasAtMost512Experts) {
  RunConfig config = Mixture();
  config.resources.device = DeviceKind::kGpu;
  config.model.num_experts = 512;
  EXPECT_THAT(FindUntrainable(config), IsEmpty());
  config.model.num_experts = 520;
  EXPECT_THAT(FeatureMessages(FindUntrainable(config)),
              ElementsAre(HasSubstr("`model.num_experts` (520) must not be above 512 on GPUs")));
  config.resources.device = DeviceKind::kCpu;
  EXPECT_THAT(FindUntrainable(config), IsEmpty());
  config.resources.device = DeviceKind::kGpu;
  config.model.num_experts = 256;
  config.layout.tp = 4;
  EXPECT_THAT(FeatureMessages(FindUntrainable(config)),
              ElementsAre(HasSubstr("`model.num_experts` (256) times `layout.tp` (4)")));
  config.layout.etp = 1;
  EXPECT_THAT(FindUntrainable(config), IsEmpty());
}

TEST(PlannedFeaturesTest, TheTrainerHasExperts) {
  const auto problems = [](const RunConfig& config) {
    return FeatureMessages(FindUntrainable(config));
  };
  RunConfig config = Mixture();
  EXPECT_THAT(problems(config), IsEmpty());
  config.layout.ep = 2;
  config.layout.tp = 2;
  EXPECT_THAT(problems(config), IsEmpty());
  config.train.gradient_noise_scale = true;
  EXPECT_THAT(problems(config), ElementsAre(HasSubstr("from the samples of several ranks")));
  config.train.gradient_noise_scale = false;
  config.layout.sequence_parallel = false;
  EXPECT_THAT(problems(config), ElementsAre(HasSubstr("every rank would process the same tokens")));
}

}  // namespace
}  // namespace trainyard
