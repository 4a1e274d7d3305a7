// Settings of DeepSeek's config.json and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/model/model_fingerprint.h"
#include "tests/trainer/checkpoint_tools/tiny_deepseek.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/checkpoint_tools/families/deepseek_family.h"
#include "trainer/checkpoint_tools/families/imported_model.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Returns the error for this config.json.
std::string RefusalOf(const json& config) {
  return ErrorOf([&] { ModelOfConfig(config, "dir/config.json"); }, ExitCode::kBadConfig);
}

// Expects that the settings become a config.json of the family, and the same settings again.
void ExpectRoundTripOf(const ModelConfig& model, const std::string& architecture) {
  const ImportedModel again = ModelOfFingerprint(ModelFingerprint(model), "step_000000010");
  EXPECT_EQ(again.family->architecture, architecture);
  EXPECT_EQ(ModelOfConfig(ConfigOf(again), "config.json").model, model);
}

ModelConfig TinyDeepSeekV3() {
  ModelConfig model = {.num_layers = 2,
                       .hidden_size = 32,
                       .ffn_hidden_size = 64,
                       .num_attention_heads = 4,
                       .num_query_groups = 4,
                       .vocab_size = 64,
                       .norm_epsilon = 1e-6};
  model.num_experts = 8;
  model.moe_router_topk = 2;
  model.moe_ffn_hidden_size = 16;
  model.moe_shared_expert_intermediate_size = 32;
  model.moe_dense_layers = 1;
  model.moe_router_score_function = RouterScoreFunction::kSigmoid;
  model.moe_router_num_groups = 4;
  model.moe_router_group_topk = 2;
  model.moe_router_topk_scaling_factor = 2.5;
  model.moe_router_enable_expert_bias = true;
  model.multi_latent_attention = true;
  model.q_lora_rank = 10;
  model.kv_lora_rank = 12;
  model.qk_head_dim = 8;
  model.qk_pos_emb_head_dim = 4;
  model.v_head_dim = 6;
  model.rope_scaling_type = RopeScalingType::kYarn;
  model.rope_scaling_factor = 40;
  model.rope_original_length = 4096;
  model.rope_mscale_all_dim = 0.5;
  return model;
}

TEST(ImportedDeepSeekTest, SettingsOfADeepSeekV3) {
  EXPECT_EQ(ModelOfConfig(TinyDeepSeekV3Config(), "config.json").model, TinyDeepSeekV3());
  ExpectRoundTripOf(TinyDeepSeekV3(), "DeepseekV3ForCausalLM");
  ModelConfig plain = TinyDeepSeekV3();  // Without scaled positions, groups and query rank.
  plain.rope_scaling_type = RopeScalingType::kLlama3;
  plain.rope_scaling_factor = 1;
  plain.rope_original_length = ModelConfig().rope_original_length;
  plain.rope_mscale_all_dim = 0;
  plain.moe_router_num_groups = plain.moe_router_group_topk = 0;
  plain.q_lora_rank = 0;
  ExpectRoundTripOf(plain, "DeepseekV3ForCausalLM");
  std::vector<std::string> names;
  for (const TensorShape& tensor :
       HuggingFaceShapes(DeepSeekV3Family().tensors(TinyDeepSeekV3()))) {
    names.push_back(tensor.name);
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"model.layers.0.mlp.up_proj.weight",
                                            "model.layers.0.self_attn.q_b_proj.weight",
                                            "model.layers.1.mlp.gate.e_score_correction_bias",
                                            "model.layers.1.mlp.experts.7.down_proj.weight",
                                            "model.layers.1.mlp.shared_experts.gate_proj.weight"}));
}

TEST(ImportedDeepSeekTest, SettingsOfADeepSeekV2Lite) {
  json config = TinyDeepSeekV3Config();
  config.update({{"architectures", {"DeepseekV2ForCausalLM"}},
                 {"model_type", "deepseek_v2"},
                 {"n_group", 1},
                 {"topk_group", 1},
                 {"topk_method", "greedy"},
                 {"scoring_func", "softmax"},
                 {"norm_topk_prob", false},
                 {"routed_scaling_factor", 1.0},
                 {"q_lora_rank", nullptr}});
  ModelConfig expected = TinyDeepSeekV3();
  expected.moe_router_score_function = RouterScoreFunction::kSoftmax;
  expected.moe_norm_topk_prob = false;
  expected.moe_router_num_groups = expected.moe_router_group_topk = 0;
  expected.moe_router_topk_scaling_factor = 1;
  expected.moe_router_enable_expert_bias = false;
  expected.q_lora_rank = 0;
  EXPECT_EQ(ModelOfConfig(config, "config.json").model, expected);
  ExpectRoundTripOf(expected, "DeepseekV2ForCausalLM");
  config["topk_method"] = "group_limited_greedy";
  EXPECT_THAT(RefusalOf(config), HasSubstr("`topk_method` \"group_limited_greedy\""));
}

TEST(ImportedDeepSeekTest, ADeepSeekThatTheTrainerLacksIsRefused) {
  const auto with = [](const std::string& key, const json& value) {
    json config = TinyDeepSeekV3Config();
    config[key] = value;
    return RefusalOf(config);
  };
  EXPECT_THAT(with("rms_norm_eps", 1e-5), HasSubstr("`rms_norm_eps` 1e-05"));
  EXPECT_THAT(with("num_key_value_heads", 2), HasSubstr("cannot be combined with"));
  EXPECT_THAT(with("topk_method", "greedy"), HasSubstr("`topk_method` \"greedy\""));
  json config = TinyDeepSeekV3Config();
  config["rope_scaling"].erase("mscale_all_dim");
  EXPECT_THAT(RefusalOf(config), HasSubstr("lacks `rope_scaling.mscale_all_dim`"));
  ModelConfig model = TinyDeepSeekV3();
  model.moe_shared_expert_intermediate_size = 24;
  EXPECT_THAT(ErrorOf(
                  [&] {
                    ConfigOf({&DeepSeekV3Family(), model});
                  },
                  ExitCode::kBadConfig),
              HasSubstr("not a multiple of the width of an expert, 16"));
  model = TinyDeepSeekV3();
  model.rope_scaling_type = RopeScalingType::kLlama3;
  EXPECT_THAT(ErrorOf(
                  [&] {
                    ConfigOf({&DeepSeekV3Family(), model});
                  },
                  ExitCode::kBadConfig),
              HasSubstr("scaled as in LLaMA 3.1"));
}

}  // namespace
}  // namespace trainyard::trainer
