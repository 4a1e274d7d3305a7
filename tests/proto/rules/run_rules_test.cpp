#include "proto/rules/run_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/contract/limits.h"
#include "proto/model/model_size.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Returns valid settings for one rank. One step has 8 * 32 = 256 tokens.
RunConfig Small() {
  RunConfig config;
  config.resources.device = DeviceKind::kCpu;
  config.model.num_layers = 2;
  config.model.hidden_size = 64;
  config.model.ffn_hidden_size = 128;
  config.model.num_attention_heads = 4;
  config.model.vocab_size = 256;
  config.data.path = "/data";
  config.train.seq_length = 32;
  config.train.global_batch = 8;
  config.train.steps = 10;
  config.train.precision = Precision::kFp32;
  return config;
}

// Returns the messages. Checks that each problem's section matches the key, such as "model" for
// "model.num_layers".
std::vector<std::string> Messages(const std::vector<SettingProblem>& problems) {
  std::vector<std::string> messages;
  for (const SettingProblem& problem : problems) {
    EXPECT_THAT(problem.message, HasSubstr(problem.key.substr(0, problem.key.find('.'))));
    messages.push_back(problem.message);
  }
  return messages;
}

// Returns the messages of all rules for a gang of `world_size` ranks. If a group of rules finds a
// problem, later groups are skipped, because they rely on the checked values.
std::vector<std::string> Problems(RunConfig config, int64_t world_size = 1) {
  FillDerived(world_size, config);
  for (const auto& found :
       {FindMissing(config), FindOutOfRange(config), FindLayoutProblems(world_size, config)}) {
    if (!found.empty()) return Messages(found);
  }
  std::vector<SettingProblem> problems = FindTrainingProblems(config);
  for (SettingProblem& problem : FindLaunchProblems(config)) problems.push_back(problem);
  return Messages(problems);
}

TEST(RunRulesTest, AcceptsASmallRun) { EXPECT_THAT(Problems(Small()), IsEmpty()); }

TEST(RunRulesTest, FillsWhatFollowsFromOtherSettings) {
  RunConfig config = Small();
  config.train.steps = 0;
  config.train.tokens = 8 * 32 * 3 + 1;  // One token more than three steps.
  config.layout.tp = 2;
  EXPECT_THAT(FillDerived(8, config),
              ElementsAre("layout.dp", "model.num_query_groups", "train.steps"));
  EXPECT_EQ(config.layout.dp, 4);
  EXPECT_EQ(config.model.num_query_groups, 4);
  EXPECT_EQ(config.train.steps, 4);
  EXPECT_THAT(FillDerived(8, config), IsEmpty()) << "what is there stays";
}

TEST(RunRulesTest, TokensAreRoundedUpToWholeSteps) {
  for (const auto& [tokens, steps] : {std::pair{1, 1}, {256, 1}, {257, 2}, {512, 2}}) {
    RunConfig config = Small();
    config.train.steps = 0;
    config.train.tokens = tokens;
    FillDerived(1, config);
    EXPECT_EQ(config.train.steps, steps) << tokens;
    EXPECT_THAT(FindTrainingProblems(config), IsEmpty());
  }
}

TEST(RunRulesTest, RefusesStepsAndTokensThatContradictEachOther) {
  RunConfig config = Small();
  // The command line derives the steps from the
  // tokens and sends both values, which must agree.
  config.train.tokens = 8 * 32 * 10;
  EXPECT_THAT(Problems(config), IsEmpty()) << "the resolver sends both";
  config.train.tokens += 1;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("both set; keep one")));
}

TEST(RunRulesTest, ALengthInSamplesIsRoundedUpToWholeSteps) {
  RunConfig config = Small();
  config.train.steps = 0;
  config.train.samples = 17;
  FillDerived(1, config);
  EXPECT_EQ(config.train.steps, 3);
  EXPECT_THAT(FindTrainingProblems(config), IsEmpty());
  config.train.steps = 4;
  EXPECT_THAT(Problems(config),
              ElementsAre("`train.samples` and `train.steps` are both set; keep one"));
  config.train.tokens = 1;
  EXPECT_THAT(Problems(config),
              ElementsAre("`train.tokens` and `train.samples` are both set; keep one"));
}

// Returns settings whose steps have 4, 4, 4, 8, 8, 12, 16, ... samples.
RunConfig Growing() {
  RunConfig config = Small();
  config.train.global_batch = 16;
  config.train.rampup_batch_start = config.train.rampup_batch_increment = 4;
  config.train.rampup_batch_samples = 36;
  return config;
}

TEST(RunRulesTest, LengthsCountTheStepsOfABatchRampup) {
  RunConfig config = Growing();
  EXPECT_THAT(Problems(config), IsEmpty());
  config.train.steps = 0;
  config.train.tokens = 32 * 41;
  FillDerived(1, config);
  EXPECT_EQ(config.train.steps, 7);
}

TEST(RunRulesTest, ABatchRampupNeedsAllOfItsSettings) {
  RunConfig config = Growing();
  config.train.rampup_batch_samples = 0;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("`train.rampup_batch_samples` is missing")));
  config = Growing();
  config.train.rampup_batch_start = 16;
  EXPECT_THAT(Problems(config), ElementsAre("`train.rampup_batch_start` (16) must be below "
                                            "`train.global_batch` (16)"));
  config.train.rampup_batch_start = 4;
  config.train.rampup_batch_increment = 5;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("set `train.rampup_batch_increment` to "
                                                      "4 or 6")));
  config.train.global_batch = 1 << 20;
  config.train.rampup_batch_increment = 4;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("262143 increments; at most 10000")));
}

TEST(RunRulesTest, EveryBatchOfARampupIsDividedAmongTheRanks) {
  RunConfig config = Growing();
  config.train.global_batch = 18;
  config.train.rampup_batch_start = 10;
  config.layout.micro_batch = 3;
  EXPECT_THAT(Problems(config, 2),
              ElementsAre("`train.rampup_batch_start` (10) must be a multiple of "
                          "layout.micro_batch * dp (6); use 6 or 12",
                          "`train.rampup_batch_increment` (4) must be a multiple of "
                          "layout.micro_batch * dp (6); use 6"));
}

TEST(RunRulesTest, EveryBatchOfARampupHasWholeRoundsOfAnInterleavedPipeline) {
  RunConfig config = Growing();
  config.model.num_layers = 8;
  config.layout.pp = 4;
  EXPECT_THAT(Problems(config, 4), IsEmpty());
  config.layout.vpp = 2;
  EXPECT_THAT(Problems(config, 4), IsEmpty());
  config.train.rampup_batch_start = 8;
  config.train.rampup_batch_increment = 2;
  EXPECT_THAT(Problems(config, 4), ElementsAre(HasSubstr("layout.micro_batch * dp * pp (4); use "
                                                         "4")));
}

TEST(RunRulesTest, NamesWhatIsMissing) {
  RunConfig config = Small();
  config.model.num_layers = 0;
  config.train.seq_length = 0;
  config.train.steps = 0;
  EXPECT_THAT(Problems(config),
              ElementsAre("`model.num_layers` is missing", "`train.seq_length` is missing",
                          "`train.steps`, `train.samples` or `train.tokens` is missing"));
}

TEST(RunRulesTest, NamesLimitsOfValuesThatAreOutOfRange) {
  RunConfig config = Small();
  config.model.num_layers = 1001;
  config.optimizer.lr = -1;
  config.layout.zero = 4;
  EXPECT_THAT(Problems(config), ElementsAre("`layout.zero` must be from 0 to 3, got 4",
                                            "`model.num_layers` must be from 1 to 1000, got 1001",
                                            "`optimizer.lr` must be from 0 to 100, got -1"));
  config = Small();
  config.optimizer.lr = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("`optimizer.lr` must be from 0 to 100")));
}

TEST(RunRulesTest, RefusesGangsOfMoreThanMaxRanks) {
  RunConfig config = Small();
  config.layout.dp = kMaxRanks;
  EXPECT_THAT(FindLayoutProblems(kMaxRanks, config), IsEmpty());
  EXPECT_THAT(Messages(FindLayoutProblems(kMaxRanks + 1, config)),
              ElementsAre(HasSubstr("at most 16384 are supported")));
}

TEST(RunRulesTest, LayoutMustMatchTheGangSize) {
  RunConfig config = Small();
  config.layout.tp = 2;
  config.layout.dp = 3;
  EXPECT_THAT(Problems(config, 4), ElementsAre(HasSubstr("dp 3 = 6 ranks, but the gang has 4")));
  config = Small();
  config.layout.ep = 2;
  config.layout.dp = 3;
  EXPECT_THAT(Problems(config, 3),
              ElementsAre("`layout.dp` (3) must be a multiple of `layout.ep` (2)"));
}

TEST(RunRulesTest, SizesMustDivide) {
  RunConfig config = Small();
  config.model.num_attention_heads = 5;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("`model.hidden_size` (64) must be a multiple "
                                                      "of `model.num_attention_heads` (5)")));
  config = Small();
  config.model.num_query_groups = 3;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("`model.num_query_groups` (3)")));
  config = Small();
  config.model.hidden_size = 36;  // 4 heads of size 9.
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("must be even for rotary positions")));
  config = Small();
  config.layout.micro_batch = 3;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("micro_batch * dp (3 * 1 = 3)")));
}

TEST(RunRulesTest, SettingsOfAModelFitTogether) {
  RunConfig config = Small();
  config.model.hidden_size = 66;
  config.model.kv_channels = 16;
  EXPECT_THAT(Problems(config), IsEmpty()) << "heads have a size of their own";
  config.model.kv_channels = 15;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("must be even for rotary positions")));
  config = Small();
  config.model.norm_weights = false;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("is layer_norm")));
  config.model.normalization = Normalization::kLayerNorm;
  EXPECT_THAT(Problems(config), IsEmpty());
  config.model.rope_low_freq_factor = 4;
  EXPECT_THAT(Problems(config), IsEmpty()) << "nothing is scaled";
  config.model.rope_scaling_factor = 8;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("must be below")));
}

TEST(RunRulesTest, LearnedPositionsNeedATableAsLongAsASample) {
  RunConfig config = Small();
  config.model.max_position_embeddings = 32;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("`model.max_position_embeddings` (32) needs "
                                                      "`model.position_embedding_type` learned")));
  config.model.position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  EXPECT_THAT(Problems(config), IsEmpty());
  config.model.kv_channels = 15;
  EXPECT_THAT(Problems(config), IsEmpty()) << "heads of any size";
  config.model.max_position_embeddings = 31;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("`train.seq_length` (32) must not be above "
                                                      "`model.max_position_embeddings` (31)")));
  config.model.max_position_embeddings = 0;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("is missing: learned_absolute positions need "
                                                      "a table, with at least `train.seq_length` "
                                                      "(32) rows")));
}

TEST(RunRulesTest, LearnedPositionsHaveNoRotarySettings) {
  RunConfig config = Small();
  config.model.position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  config.model.max_position_embeddings = 64;
  config.model.rotary_base = 500000;
  config.model.rotary_percent = 0.5;
  config.model.rope_scaling_factor = 8;
  config.model.rope_low_freq_factor = 2;
  config.model.rope_high_freq_factor = 5;
  config.model.rope_original_length = 16;
  std::vector<std::string> keys;
  for (const SettingProblem& problem : FindTrainingProblems(config)) {
    keys.push_back(problem.key);
    EXPECT_THAT(problem.message, HasSubstr("` needs `model.position_embedding_type` rope"));
  }
  EXPECT_THAT(keys, ElementsAre("model.rotary_base", "model.rotary_percent",
                                "model.rope_scaling_factor", "model.rope_low_freq_factor",
                                "model.rope_high_freq_factor", "model.rope_original_length"));
}

TEST(RunRulesTest, RotaryPositionsTurnPairs) {
  RunConfig config = Small();  // Heads of 16.
  for (const double whole : {0.125, 0.25, 0.5, 1.0}) {
    config.model.rotary_percent = whole;
    EXPECT_THAT(Problems(config), IsEmpty()) << whole;
  }
  EXPECT_EQ(RotarySize(config.model), 16);
  config.model.rotary_percent = 0.3;
  EXPECT_THAT(
      Problems(config),
      ElementsAre("`model.rotary_percent` (0.3) rotates 4.8 of the 16 elements of a head; this "
                  "number must be even"));
  config.model.rotary_percent = 0.0625;
  EXPECT_THAT(
      Problems(config),
      ElementsAre(HasSubstr("rotates 1 of the 16 elements of a head; this number must be even")));
  config.model.rotary_percent = 0.001;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("this number must be even")));
  config.model.kv_channels = 15;
  config.model.rotary_percent = 0.4;
  EXPECT_THAT(Problems(config), IsEmpty()) << "6 of 15";
  EXPECT_EQ(RotarySize(config.model), 6);
}

TEST(RunRulesTest, ScheduleMustFitTheRun) {
  RunConfig config = Small();
  config.schedule.warmup_steps = 11;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("takes 11 steps, but the run has 10")));
  config = Small();
  config.schedule.kind = ScheduleKind::kWsd;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("wsd needs one of them")));
  config.schedule.decay_steps = 9;
  config.schedule.warmup_steps = 2;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("warm-up and decay take 11 steps")));
  config = Small();
  config.optimizer.min_lr = 0.5;
  EXPECT_THAT(Problems(config),
              ElementsAre("`optimizer.min_lr` (0.5) must not be above `optimizer.lr` (3e-04)"));
}

TEST(RunRulesTest, LayoutsThatDoNotDivideNameTheNearestThatDo) {
  RunConfig config = Small();
  config.model.num_attention_heads = config.model.num_query_groups = 16;
  config.layout.tp = 6;
  config.layout.sequence_parallel = false;
  EXPECT_THAT(Problems(config, 6),
              ElementsAre("`model.num_attention_heads` (16) must be a multiple of `layout.tp` (6); "
                          "set `layout.tp` to 4 or 8"));
  config = Small();
  config.train.seq_length = 60;
  config.layout.cp = 4;
  EXPECT_THAT(Problems(config, 4),
              ElementsAre("half of `train.seq_length` (60) must be a multiple of `layout.cp` (4); "
                          "set `layout.cp` to 3 or 5"));
  config.train.seq_length = 61;
  EXPECT_THAT(Problems(config, 4), ElementsAre(HasSubstr("`train.seq_length` (61) must be even")));
  config = Small();
  config.train.seq_length = 62;
  config.layout.tp = 4;
  EXPECT_THAT(Problems(config, 4),
              ElementsAre(HasSubstr("`train.seq_length` / `layout.cp` = 62) must be a multiple of "
                                    "`layout.tp` (4); set `layout.tp` to 2 or 31")));
}

TEST(RunRulesTest, PipelinesNeedALayerInEveryPart) {
  RunConfig config = Small();
  config.model.num_layers = 3;
  config.layout.pp = 2;
  EXPECT_THAT(Problems(config, 2), IsEmpty()) << "stages may be uneven";
  config.layout.vpp = 2;
  EXPECT_THAT(Problems(config, 2), ElementsAre(HasSubstr("every part of the pipeline needs a")));
  config.layout.pp = 1;
  EXPECT_THAT(Problems(config), ElementsAre("`layout.vpp` (2) needs `layout.pp` above 1"));
  config = Small();
  config.layout.zero_bubble = true;
  EXPECT_THAT(Problems(config), ElementsAre("`layout.zero_bubble` needs `layout.pp` above 1"));
}

TEST(RunRulesTest, InterleavedPipelinesNeedWholeRoundsOfMicroBatches) {
  RunConfig config = Small();
  config.model.num_layers = 12;
  config.train.global_batch = 8;
  config.layout.pp = 3;
  EXPECT_THAT(Problems(config, 3), IsEmpty());
  config.layout.vpp = 2;
  EXPECT_THAT(Problems(config, 3),
              ElementsAre(HasSubstr("= 8) must be a multiple of `layout.pp` (3); set `layout.pp` "
                                    "to 2 or 4")));
}

TEST(RunRulesTest, TheNoiseScaleNeedsTwoMicroBatchesThatAreMeasuredApart) {
  RunConfig config = Small();
  config.train.gradient_noise_scale = true;
  config.layout.micro_batch = 4;
  EXPECT_THAT(Problems(config), IsEmpty());
  config.layout.micro_batch = 8;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("lower `layout.micro_batch`")));
  config.layout.micro_batch = 1;
  config.layout.pp = 2;
  EXPECT_THAT(Problems(config, 2), IsEmpty());
  config.layout.zero_bubble = true;
  EXPECT_THAT(Problems(config, 2), ElementsAre(HasSubstr("turn off one of these two settings")));
}

TEST(RunRulesTest, GradientNormsOfLayersAreSeriesOfALimitedNumber) {
  RunConfig config = Small();
  config.train.gradient_log_interval = 10;
  config.model.num_layers = 900;
  EXPECT_THAT(Problems(config), IsEmpty());
  config.model.num_layers = 901;
  EXPECT_THAT(Problems(config), ElementsAre(HasSubstr("at most 900")));
}

TEST(RunRulesTest, CopiesOfShardsDivideTheRanks) {
  RunConfig config = Small();
  config.train.global_batch = 6;
  config.layout.dp = 6;
  config.layout.zero = 3;
  config.layout.zero_size = 4;
  EXPECT_THAT(Problems(config, 6), ElementsAre(HasSubstr("set `layout.zero_size` to 3 or 6")));
  config.layout.zero_size = 2;
  EXPECT_THAT(Problems(config, 6), IsEmpty());
  config.layout.zero = 0;
  EXPECT_THAT(Problems(config, 6), ElementsAre(HasSubstr("needs `layout.zero` above 0")));
}

TEST(RunRulesTest, TheTrainerTakesEveryDenseLayout) {
  RunConfig config = Small();
  config.layout.tp = config.layout.cp = config.layout.pp = config.layout.vpp = 2;
  config.layout.zero = 3;
  EXPECT_THAT(FindLaunchProblems(config), IsEmpty());
}

TEST(RunRulesTest, FeaturesThatTheTrainerLacksAreLaunchProblems) {
  RunConfig experts = Small();
  experts.layout.ep = 2;
  EXPECT_THAT(Messages(FindLaunchProblems(experts)),
              ElementsAre("`layout.ep` (2) needs `model.num_experts`; set it to 1"));
  experts.model.num_experts = 8;
  EXPECT_THAT(FindLaunchProblems(experts), IsEmpty());
  RunConfig config = Small();
  config.data.path.clear();
  config.train.precision = Precision::kBf16;  // The device is the CPU.
  EXPECT_THAT(Messages(FindLaunchProblems(config)),
              ElementsAre(HasSubstr("`data.path` is missing"), HasSubstr("bf16 is for GPUs")));
}

TEST(RunRulesTest, HeadsThatFusedAttentionCannotTakeAreLaunchProblems) {
  RunConfig config = Small();
  config.model.hidden_size = 120;
  config.model.num_attention_heads = 12;
  EXPECT_THAT(FindLaunchProblems(config), IsEmpty()) << "a CPU in fp32 takes all";
  config.resources.device = DeviceKind::kGpu;
  config.train.precision = Precision::kBf16;
  EXPECT_THAT(Messages(FindLaunchProblems(config)),
              ElementsAre(HasSubstr("heads have 10 elements")));
  config.model.kv_channels = 16;
  EXPECT_THAT(FindLaunchProblems(config), IsEmpty()) << "heads have a size of their own";
  config.model.hidden_size = 96;
  config.model.kv_channels = 12;
  EXPECT_THAT(Messages(FindLaunchProblems(config)),
              ElementsAre(HasSubstr("heads have 12 elements (`model.kv_channels`)")));
  config.model.kv_channels = 0;
  EXPECT_THAT(FindLaunchProblems(config), IsEmpty());
}

TEST(RunRulesTest, LatentAttentionHasTwoSizesOfHeads) {
  RunConfig config = Small();
  config.resources.device = DeviceKind::kGpu;
  config.train.precision = Precision::kBf16;
  ModelConfig& model = config.model;
  model.multi_latent_attention = true;
  model.kv_lora_rank = 16;
  model.qk_head_dim = 16;
  model.qk_pos_emb_head_dim = 8;
  model.v_head_dim = 16;
  model.num_attention_heads = model.num_query_groups = 5;  // They do not divide hidden_size.
  EXPECT_THAT(FindLaunchProblems(config), IsEmpty());
  model.qk_pos_emb_head_dim = 4;
  model.v_head_dim = 12;
  EXPECT_THAT(Messages(FindLaunchProblems(config)),
              ElementsAre("query heads have 20 elements (`model.qk_head_dim` + "
                          "`model.qk_pos_emb_head_dim`), but attention in bf16 or fp16 on a GPU "
                          "needs a multiple of 8; change one of these settings",
                          "value heads have 12 elements (`model.v_head_dim`), but attention in "
                          "bf16 or fp16 on a GPU needs a multiple of 8; change this setting"));
  config.train.precision = Precision::kFp32;
  EXPECT_THAT(FindLaunchProblems(config), IsEmpty());
}

}  // namespace
}  // namespace trainyard
