#include "proto/rules/position_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Messages(const RunConfig& config) {
  std::vector<std::string> messages;
  for (const SettingProblem& problem : FindPositionProblems(config)) {
    messages.push_back(problem.message);
  }
  return messages;
}

RunConfig WithHeads() {
  RunConfig config;
  config.model.hidden_size = 64;
  config.model.num_attention_heads = config.model.num_query_groups = 4;
  return config;
}

RunConfig Yarn() {
  RunConfig config = WithHeads();
  config.model.rope_scaling_type = RopeScalingType::kYarn;
  config.model.rope_scaling_factor = 40;
  return config;
}

TEST(PositionRulesTest, YarnHasSettingsOfItsOwn) {
  EXPECT_THAT(Messages(Yarn()), IsEmpty());
  RunConfig config = WithHeads();
  config.model.rope_beta_fast = 16;
  config.model.rope_mscale_all_dim = 1;
  EXPECT_THAT(Messages(config),
              ElementsAre("`model.rope_beta_fast` needs `model.rope_scaling_type` yarn",
                          "`model.rope_mscale_all_dim` needs `model.rope_scaling_type` yarn"));
  config = Yarn();
  config.model.rope_low_freq_factor = 2;
  EXPECT_THAT(Messages(config),
              ElementsAre("`model.rope_low_freq_factor` needs `model.rope_scaling_type` llama3"));
}

TEST(PositionRulesTest, YarnNeedsAFactorAndOrderedLimits) {
  RunConfig config = Yarn();
  config.model.rope_scaling_factor = 1;
  EXPECT_THAT(Messages(config), ElementsAre(HasSubstr("`model.rope_scaling_factor` above 1")));
  config = Yarn();
  config.model.rope_beta_slow = 32;
  EXPECT_THAT(Messages(config),
              ElementsAre("`model.rope_beta_slow` (32) must be below `model.rope_beta_fast` (32)"));
}

TEST(PositionRulesTest, LatentAttentionRotatesElementsOfItsOwn) {
  RunConfig config = WithHeads();
  config.model.hidden_size = 63;  // Not a multiple of the heads, which have sizes of their own.
  config.model.multi_latent_attention = true;
  config.model.kv_lora_rank = 16;
  config.model.qk_head_dim = config.model.v_head_dim = 7;
  config.model.qk_pos_emb_head_dim = 6;
  EXPECT_THAT(Messages(config), IsEmpty());
  config.model.qk_pos_emb_head_dim = 5;
  EXPECT_THAT(Messages(config),
              ElementsAre("`model.qk_pos_emb_head_dim` (5) must be even for rotary positions"));
}

}  // namespace
}  // namespace trainyard
