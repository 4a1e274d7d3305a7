#include "trainer/checkpoint_tools/model_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/config/model_fingerprint.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

ModelConfig TinyModel() {
  return {.num_layers = 2,
          .hidden_size = 32,
          .ffn_hidden_size = 64,
          .num_attention_heads = 4,
          .num_query_groups = 2,
          .vocab_size = 64,
          .rotary_base = 500000,
          .norm_epsilon = 1e-6};
}

json With(const std::string& key, const json& value) {
  json config = TinyLlamaConfig();
  config[key] = value;
  return config;
}

// The refusal of a config.json.
std::string Refusal(const json& config) {
  return ErrorOf([&] { ModelOfConfig(config, "dir/config.json"); }, ExitCode::kBadConfig);
}

TEST(ModelFamilyTest, SettingsOfALlama) {
  const ImportedModel imported = ModelOfConfig(TinyLlamaConfig(), "config.json");
  EXPECT_STREQ(imported.family->architecture, "LlamaForCausalLM");
  EXPECT_EQ(imported.model, TinyModel());
}

TEST(ModelFamilyTest, AbsentKeysHaveTheValuesOfTransformers) {
  json config = TinyLlamaConfig();
  for (const char* key : {"num_key_value_heads", "rope_theta", "rms_norm_eps", "head_dim",
                          "tie_word_embeddings", "hidden_act", "attention_bias", "rope_scaling"}) {
    config.erase(key);
  }
  ModelConfig expected = TinyModel();
  expected.num_query_groups = 4;
  expected.rotary_base = 10000;
  EXPECT_EQ(ModelOfConfig(config, "config.json").model, expected);
}

TEST(ModelFamilyTest, TiedEmbeddings) {
  const ImportedModel imported = ModelOfConfig(With("tie_word_embeddings", true), "config.json");
  EXPECT_FALSE(imported.model.untie_embeddings_and_output_weights);
  for (const TensorShape& tensor : imported.family->tensors(imported.model)) {
    EXPECT_NE(tensor.name, "lm_head.weight");
  }
  EXPECT_EQ(ConfigOf(imported)["tie_word_embeddings"], true);
}

TEST(ModelFamilyTest, RotaryKeysOfTransformers5) {
  json config = TinyLlamaConfig();
  config.erase("rope_theta");
  config["rope_parameters"] = {{"rope_theta", 20000.0}, {"rope_type", "default"}};
  EXPECT_EQ(ModelOfConfig(config, "config.json").model.rotary_base, 20000);
  config["rope_parameters"] = {{"rope_theta", 20000.0}, {"rope_type", "llama3"}, {"factor", 8.0}};
  EXPECT_THAT(Refusal(config), HasSubstr("`rope_scaling` {\"factor\":8.0,"));
  config["rope_parameters"] = {{"rope_type", "default"}, {"partial_rotary_factor", 0.5}};
  EXPECT_THAT(Refusal(config), HasSubstr("`partial_rotary_factor`"));
}

TEST(ModelFamilyTest, TheKeyThatMakesAnotherModelIsNamed) {
  EXPECT_THAT(Refusal(With("rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}})),
              AllOf(HasSubstr("dir/config.json has `rope_scaling` {"),
                    HasSubstr("of LlamaForCausalLM an import takes null only")));
  EXPECT_THAT(Refusal(With("hidden_act", "gelu")), HasSubstr("`hidden_act` \"gelu\"; of Llama"));
  EXPECT_THAT(Refusal(With("attention_bias", true)), HasSubstr("`attention_bias` true"));
  EXPECT_THAT(Refusal(With("mlp_bias", true)), HasSubstr("`mlp_bias` true"));
  EXPECT_THAT(Refusal(With("attention_dropout", 0.1)), HasSubstr("`attention_dropout` 0.1"));
  EXPECT_THAT(Refusal(With("head_dim", 16)),
              HasSubstr("`head_dim` 16, and an import takes 8 only"));
  EXPECT_THAT(Refusal(With("sliding_window", 4096)), HasSubstr("arithmetic: `sliding_window`;"));
  json config = With("quantization_config", json::object());
  config["zz"] = 1;
  EXPECT_THAT(Refusal(config), HasSubstr("arithmetic: `quantization_config`, `zz`;"));
  EXPECT_EQ(ModelOfConfig(With("sliding_window", nullptr), "").model, TinyModel());
}

TEST(ModelFamilyTest, OtherArchitecturesAndDamagedFilesAreRefused) {
  EXPECT_THAT(Refusal(With("architectures", {"MistralForCausalLM"})),
              HasSubstr("`architectures` [\"MistralForCausalLM\"]; this version knows Llama"));
  EXPECT_THAT(Refusal(With("model_type", "mistral")), HasSubstr("`model_type` \"mistral\""));
  EXPECT_THAT(Refusal(With("hidden_size", "wide")), HasSubstr("`model.hidden_size` must be a wh"));
  EXPECT_THAT(Refusal(With("hidden_size", 33)), HasSubstr("must be a multiple of"));
  EXPECT_THAT(Refusal(With("tie_word_embeddings", 1)), HasSubstr("instead of true or false"));
  EXPECT_THAT(Refusal(json::array()), HasSubstr("is not a JSON object"));
  json config = TinyLlamaConfig();
  config.erase("vocab_size");
  EXPECT_THAT(Refusal(config), HasSubstr("lacks `vocab_size`"));
}

TEST(ModelFamilyTest, AConfigFromSettingsDescribesTheSameModel) {
  const ImportedModel imported =
      ModelOfFingerprint(ModelFingerprint(TinyModel()), "step_000000010");
  EXPECT_EQ(ModelOfConfig(ConfigOf(imported), "config.json").model, TinyModel());
  json expected = TinyLlamaConfig();
  for (const char* key :
       {"bos_token_id", "eos_token_id", "initializer_range", "pretraining_tp",
        "max_position_embeddings", "torch_dtype", "transformers_version", "use_cache"}) {
    expected.erase(key);
  }
  EXPECT_EQ(ConfigOf(imported), expected);
}

TEST(ModelFamilyTest, FingerprintsOfOtherModelsAreRefused) {
  const auto refusal = [](const std::string& fingerprint, ExitCode code) {
    return ErrorOf([&] { ModelOfFingerprint(fingerprint, "step"); }, code);
  };
  EXPECT_THAT(refusal("tiny", ExitCode::kBadCheckpoint),
              HasSubstr("step does not describe its model"));
  json shape = ModelShape(TinyModel());
  shape["experts"] = 8;
  EXPECT_THAT(refusal(shape.dump(), ExitCode::kBadConfig), HasSubstr("`model.experts`"));
}

TEST(ModelFamilyTest, TensorsOfALlama) {
  const ImportedModel imported = ModelOfConfig(TinyLlamaConfig(), "config.json");
  std::map<std::string, std::vector<int64_t>> expected, shapes;
  for (const auto& [name, tensor] : TinyLlama("F32")) expected[name] = tensor.shape;
  for (const auto& [name, shape] : imported.family->tensors(imported.model)) shapes[name] = shape;
  EXPECT_EQ(shapes, expected);
}

}  // namespace
}  // namespace trainyard::trainer
