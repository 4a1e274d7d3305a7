// Tests the configurations of Qwen2 and Qwen2.5.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proto/model/model_fingerprint.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/checkpoint_tools/families/imported_model.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// The keys of the published models, with small sizes.
json TinyQwen2Config() {
  return json::parse(R"({
    "architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1,
    "eos_token_id": 2, "hidden_act": "silu", "hidden_size": 32, "initializer_range": 0.02,
    "intermediate_size": 64, "max_position_embeddings": 32768, "max_window_layers": 24,
    "model_type": "qwen2", "num_attention_heads": 4, "num_hidden_layers": 2,
    "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0,
    "sliding_window": 32768, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
    "use_cache": true, "use_mrope": false, "use_sliding_window": false, "vocab_size": 64})");
}

std::string RefusalOfQwen2(const char* key, const json& value) {
  json config = TinyQwen2Config();
  config[key] = value;
  return ErrorOf([&] { ModelOfConfig(config, "config.json"); }, ExitCode::kBadConfig);
}

TEST(ImportedQwen2Test, SettingsOfAQwen2) {
  const ImportedModel imported = ModelOfConfig(TinyQwen2Config(), "config.json");
  EXPECT_STREQ(imported.family->architecture, "Qwen2ForCausalLM");
  EXPECT_TRUE(imported.model.add_qkv_bias);
  EXPECT_FALSE(imported.model.untie_embeddings_and_output_weights);
  EXPECT_EQ(imported.model.rotary_base, 1e6);
  EXPECT_EQ(imported.model.kv_channels, 0) << "the usual size of heads";
  const ImportedModel again = ModelOfFingerprint(ModelFingerprint(imported.model), "step");
  EXPECT_STREQ(again.family->architecture, "Qwen2ForCausalLM");
  EXPECT_EQ(ModelOfConfig(ConfigOf(again), "config.json").model, imported.model);
}

TEST(ImportedQwen2Test, AQwen2ThatIsAnotherModel) {
  EXPECT_THAT(RefusalOfQwen2("use_sliding_window", true),
              HasSubstr("`use_sliding_window` true; an import of Qwen2ForCausalLM"));
  EXPECT_THAT(RefusalOfQwen2("use_mrope", true), HasSubstr("`use_mrope` true"));
  EXPECT_THAT(RefusalOfQwen2("rope_scaling", {{"rope_type", "yarn"}}), HasSubstr("yarn"));
}

// transformers writes the kind of each layer since version 4.53, also for mixtures.
TEST(ImportedQwen2Test, LayerTypesMustBeFullAttention) {
  json mixture = TinyQwen2Config();
  mixture.update({{"architectures", {"Qwen3MoeForCausalLM"}},
                  {"model_type", "qwen3_moe"},
                  {"head_dim", 8},
                  {"num_experts", 4},
                  {"num_experts_per_tok", 2},
                  {"moe_intermediate_size", 16},
                  {"norm_topk_prob", true}});
  mixture.erase("use_mrope");
  for (json config : {TinyQwen2Config(), mixture}) {
    config["layer_types"] = {"full_attention", "full_attention"};
    EXPECT_EQ(ModelOfConfig(config, "config.json").model.num_layers, 2);
    config["layer_types"][1] = "sliding_attention";
    EXPECT_THAT(ErrorOf([&] { ModelOfConfig(config, "config.json"); }, ExitCode::kBadConfig),
                HasSubstr("`layer_types` \"sliding_attention\""));
  }
}

// Biases beside normalized heads are in no family.
TEST(ImportedQwen2Test, AMixOfFamiliesIsNotExported) {
  ModelConfig model = ModelOfConfig(TinyQwen2Config(), "config.json").model;
  model.qk_layernorm = true;
  EXPECT_THAT(
      ErrorOf([&] { ModelOfFingerprint(ModelFingerprint(model), "step"); }, ExitCode::kBadConfig),
      HasSubstr("Qwen2ForCausalLM"));
}

}  // namespace
}  // namespace trainyard::trainer
