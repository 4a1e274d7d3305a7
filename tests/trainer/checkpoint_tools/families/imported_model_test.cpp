#include "trainer/checkpoint_tools/families/imported_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/model/model_fingerprint.h"
#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "tests/trainer/config/error_of.h"

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

// Returns the error for this config.json.
std::string Refusal(const json& config) {
  return ErrorOf([&] { ModelOfConfig(config, "dir/config.json"); }, ExitCode::kBadConfig);
}

TEST(ImportedModelTest, SettingsOfALlama) {
  const ImportedModel imported = ModelOfConfig(TinyLlamaConfig(), "config.json");
  EXPECT_STREQ(imported.family->architecture, "LlamaForCausalLM");
  EXPECT_EQ(imported.model, TinyModel());
}

TEST(ImportedModelTest, AbsentKeysHaveTheValuesOfTransformers) {
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

TEST(ImportedModelTest, TiedEmbeddings) {
  const ImportedModel imported = ModelOfConfig(With("tie_word_embeddings", true), "config.json");
  EXPECT_FALSE(imported.model.untie_embeddings_and_output_weights);
  for (const TensorShape& tensor : OurShapes(imported.family->tensors(imported.model))) {
    EXPECT_NE(tensor.name, "lm_head.weight");
  }
  EXPECT_EQ(ConfigOf(imported)["tie_word_embeddings"], true);
}

TEST(ImportedModelTest, RotaryKeysOfTransformers5) {
  json config = TinyLlamaConfig();
  config.erase("rope_theta");
  config["rope_parameters"] = {{"rope_theta", 20000.0}, {"rope_type", "default"}};
  EXPECT_EQ(ModelOfConfig(config, "config.json").model.rotary_base, 20000);
  config["rope_parameters"] = {{"rope_type", "default"}, {"partial_rotary_factor", 0.5}};
  EXPECT_THAT(Refusal(config), HasSubstr("`partial_rotary_factor`"));
  config["rope_parameters"] = {{"rope_theta", 20000.0}, {"rope_type", "default"}};
  config["rope_theta"] = 10000;
  EXPECT_THAT(Refusal(config), HasSubstr("`rope_theta` 10000 and `rope_parameters.rope_theta` "
                                         "20000.0, which contradict each other"));
}

TEST(ImportedModelTest, ScaledPositionsOfLlama31) {
  ModelConfig expected = TinyModel();
  expected.rope_scaling_factor = 16;
  expected.rope_low_freq_factor = 2;
  expected.rope_high_freq_factor = 5;
  expected.rope_original_length = 4096;
  const json keys = {{"rope_type", "llama3"},
                     {"factor", 16.0},
                     {"low_freq_factor", 2.0},
                     {"high_freq_factor", 5.0},
                     {"original_max_position_embeddings", 4096}};
  EXPECT_EQ(ModelOfConfig(With("rope_scaling", keys), "config.json").model, expected);
  json version5 = TinyLlamaConfig();
  version5.erase("rope_scaling");
  version5.erase("rope_theta");
  version5["rope_parameters"] = keys;
  version5["rope_parameters"]["rope_theta"] = 500000.0;
  const ImportedModel imported = ModelOfConfig(version5, "config.json");
  EXPECT_EQ(imported.model, expected);
  EXPECT_EQ(ConfigOf(imported)["rope_scaling"], keys);
  EXPECT_EQ(ConfigOf(imported)["rope_parameters"], version5["rope_parameters"]);
  EXPECT_EQ(ModelOfConfig(ConfigOf(imported), "config.json").model, expected);
  for (const auto& [key, value] : keys.items()) {
    if (key == "rope_type") continue;
    json less = keys;
    less.erase(key);
    EXPECT_THAT(Refusal(With("rope_scaling", less)),
                HasSubstr("scales positions but lacks `rope_scaling." + key + "`"));
  }
  json other = keys;
  other["attention_factor"] = 1.0;
  EXPECT_THAT(Refusal(With("rope_scaling", other)), HasSubstr("`rope_scaling.attention_factor`"));
}

TEST(ImportedModelTest, TheKeyThatMakesAnotherModelIsNamed) {
  EXPECT_THAT(Refusal(With("rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}})),
              HasSubstr("`rope_scaling.rope_type` \"linear\"; an import of LlamaForCausalLM"));
  EXPECT_THAT(Refusal(With("rope_scaling", {{"type", "yarn"},
                                            {"factor", 8.0},
                                            {"low_freq_factor", 1.0},
                                            {"high_freq_factor", 4.0},
                                            {"original_max_position_embeddings", 64}})),
              AllOf(HasSubstr("dir/config.json has `rope_scaling.rope_type` \"yarn\""),
                    HasSubstr("an import of LlamaForCausalLM supports only \"llama3\"")));
  EXPECT_THAT(Refusal(With("hidden_act", "gelu")),
              HasSubstr("`hidden_act` \"gelu\"; an import of Llama"));
  EXPECT_THAT(Refusal(With("attention_bias", true)), HasSubstr("`attention_bias` true"));
  EXPECT_THAT(Refusal(With("mlp_bias", true)), HasSubstr("`mlp_bias` true"));
  EXPECT_THAT(Refusal(With("sliding_window", 4096)), HasSubstr("arithmetic: `sliding_window`;"));
  json config = With("quantization_config", json::object());
  config["zz"] = 1;
  EXPECT_THAT(Refusal(config), HasSubstr("arithmetic: `quantization_config`, `zz`;"));
  EXPECT_EQ(ModelOfConfig(With("sliding_window", nullptr), "").model, TinyModel());
}

TEST(ImportedModelTest, HeadsOfAnotherSize) {
  ModelConfig expected = TinyModel();
  expected.kv_channels = 16;
  const ImportedModel imported = ModelOfConfig(With("head_dim", 16), "config.json");
  EXPECT_EQ(imported.model, expected);
  EXPECT_EQ(ConfigOf(imported)["head_dim"], 16);
}

// Dropout applies only to training and does not change the logits.
TEST(ImportedModelTest, DropoutsAreNamedAndExportedAsZero) {
  const json config = With("attention_dropout", 0.1);
  const ImportedModel imported = ModelOfConfig(config, "config.json");
  EXPECT_EQ(DropoutsOf(config, *imported.family), "attention_dropout 0.1");
  EXPECT_EQ(DropoutsOf(TinyLlamaConfig(), *imported.family), "");
  EXPECT_EQ(ConfigOf(imported)["attention_dropout"], 0.0);
}

// The config that Qwen3Config.save_pretrained of transformers 4.53 writes.
json TinyQwen3Config() {
  return json::parse(R"({
    "architectures": ["Qwen3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
    "head_dim": 16, "hidden_act": "silu", "hidden_size": 32, "intermediate_size": 64,
    "layer_types": ["full_attention", "full_attention"], "max_position_embeddings": 128,
    "max_window_layers": 28, "model_type": "qwen3", "num_attention_heads": 4,
    "num_hidden_layers": 2, "num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_scaling": null,
    "rope_theta": 500000.0, "sliding_window": null, "tie_word_embeddings": true,
    "use_sliding_window": false, "vocab_size": 64})");
}

TEST(ImportedModelTest, SettingsOfAQwen3) {
  ModelConfig expected = TinyModel();
  expected.kv_channels = 16;
  expected.qk_layernorm = true;
  expected.untie_embeddings_and_output_weights = false;
  const ImportedModel imported = ModelOfConfig(TinyQwen3Config(), "config.json");
  EXPECT_STREQ(imported.family->architecture, "Qwen3ForCausalLM");
  EXPECT_EQ(imported.model, expected);
  const ImportedModel again = ModelOfFingerprint(ModelFingerprint(expected), "step_000000010");
  EXPECT_STREQ(again.family->architecture, "Qwen3ForCausalLM");
  EXPECT_EQ(ModelOfConfig(ConfigOf(again), "config.json").model, expected);
}

TEST(ImportedModelTest, AQwen3ThatIsAnotherModel) {
  json config = TinyQwen3Config();
  config["use_sliding_window"] = true;
  EXPECT_THAT(Refusal(config),
              HasSubstr("`use_sliding_window` true; an import of Qwen3ForCausalLM"));
  config = TinyQwen3Config();
  config["layer_types"][1] = "sliding_attention";
  EXPECT_THAT(Refusal(config),
              HasSubstr("`layer_types` \"sliding_attention\"; an import of Qwen3"));
  config = TinyQwen3Config();
  config["rope_scaling"] = {{"rope_type", "yarn"}};
  EXPECT_THAT(Refusal(config), HasSubstr("`rope_scaling.rope_type` \"yarn\"; an import of Qwen3"));
}

// Settings that Mixtral has in addition to LLaMA's settings.
json TinyMixtralConfig() {
  json config = TinyLlamaConfig();
  for (const char* key : {"attention_bias", "mlp_bias", "pretraining_tp"}) config.erase(key);
  config.update({{"architectures", {"MixtralForCausalLM"}},
                 {"model_type", "mixtral"},
                 {"num_local_experts", 4},
                 {"num_experts_per_tok", 2},
                 {"sliding_window", nullptr},
                 {"router_aux_loss_coef", 0.02},
                 {"output_router_logits", false},
                 {"router_jitter_noise", 0.0}});
  return config;
}

// Expects that the settings become a config.json of the family, and the same settings again.
void ExpectRoundTrip(const ModelConfig& model, const std::string& architecture) {
  const ImportedModel again = ModelOfFingerprint(ModelFingerprint(model), "step_000000010");
  EXPECT_EQ(again.family->architecture, architecture);
  EXPECT_EQ(ModelOfConfig(ConfigOf(again), "config.json").model, model);
}

TEST(ImportedModelTest, SettingsOfAMistral) {
  json config = TinyLlamaConfig();
  config.update({{"architectures", {"MistralForCausalLM"}}, {"model_type", "mistral"}});
  for (const char* key : {"attention_bias", "mlp_bias", "pretraining_tp"}) config.erase(key);
  ModelConfig expected = TinyModel();
  expected.window_size = 4096;
  EXPECT_EQ(ModelOfConfig(config, "config.json").model, expected) << "the default of transformers";
  config["sliding_window"] = 32;
  expected.window_size = 32;
  const ImportedModel imported = ModelOfConfig(config, "config.json");
  EXPECT_EQ(imported.model, expected);
  EXPECT_EQ(ConfigOf(imported)["sliding_window"], 32);
  EXPECT_EQ(ModelOfConfig(ConfigOf(imported), "config.json").model, expected);
  EXPECT_STREQ(ModelOfFingerprint(ModelFingerprint(expected), "manifest").family->architecture,
               "MistralForCausalLM");
  config["sliding_window"] = nullptr;
  expected.window_size = 0;
  const ImportedModel whole = ModelOfConfig(config, "config.json");
  EXPECT_EQ(whole.model, expected);
  EXPECT_TRUE(ConfigOf(whole)["sliding_window"].is_null());
}

TEST(ImportedModelTest, KeysOfSmolLm2HaveNoEffect) {
  json config = With("is_llama_config", true);
  config.update({{"rope_interleaved", false},
                 {"transformers.js_config", {{"dtype", "q4"}}},
                 {"pretraining_tp", 1}});
  const ImportedModel imported = ModelOfConfig(config, "config.json");
  EXPECT_EQ(imported.model, TinyModel());
  EXPECT_EQ(KeysWithoutEffect(config, *imported.family),
            "pretraining_tp, is_llama_config, transformers.js_config");
  EXPECT_THAT(Refusal(With("rope_interleaved", true)), HasSubstr("`rope_interleaved` true"));
}

TEST(ImportedModelTest, TheModelTypeNamesTheFamilyWithoutAClass) {
  json config = TinyLlamaConfig();
  config.erase("architectures");
  EXPECT_EQ(ModelOfConfig(config, "config.json").model, TinyModel());
  config["model_type"] = "gemma2";
  EXPECT_THAT(Refusal(config), HasSubstr("`architectures` null; this version supports only"));
}

TEST(ImportedModelTest, SettingsOfAMixtral) {
  ModelConfig expected = TinyModel();
  expected.num_experts = 4;
  expected.moe_router_topk = 2;
  const ImportedModel imported = ModelOfConfig(TinyMixtralConfig(), "config.json");
  EXPECT_EQ(imported.model, expected);
  ExpectRoundTrip(expected, "MixtralForCausalLM");
  std::vector<std::string> names;
  for (const TensorShape& tensor : HuggingFaceShapes(imported.family->tensors(expected))) {
    names.push_back(tensor.name);
  }
  EXPECT_THAT(names,
              testing::IsSupersetOf({"model.layers.0.block_sparse_moe.gate.weight",
                                     "model.layers.1.block_sparse_moe.experts.3.w2.weight"}));
  json config = TinyMixtralConfig();
  config["sliding_window"] = 4096;
  EXPECT_THAT(Refusal(config), HasSubstr("`sliding_window` 4096; an import of Mixtral"));
}

TEST(ImportedModelTest, SettingsOfAQwen3Moe) {
  json config = TinyQwen3Config();
  config.erase("layer_types");
  config.update({{"architectures", {"Qwen3MoeForCausalLM"}},
                 {"model_type", "qwen3_moe"},
                 {"num_experts", 8},
                 {"num_experts_per_tok", 3},
                 {"moe_intermediate_size", 16},
                 {"norm_topk_prob", true},
                 {"decoder_sparse_step", 1},
                 {"mlp_only_layers", json::array()},
                 {"router_aux_loss_coef", 0.001},
                 {"output_router_logits", false}});
  ModelConfig expected = TinyModel();
  expected.kv_channels = 16;
  expected.qk_layernorm = true;
  expected.untie_embeddings_and_output_weights = false;
  expected.num_experts = 8;
  expected.moe_router_topk = 3;
  expected.moe_ffn_hidden_size = 16;
  EXPECT_EQ(ModelOfConfig(config, "config.json").model, expected);
  ExpectRoundTrip(expected, "Qwen3MoeForCausalLM");
  config["mlp_only_layers"] = {0};
  EXPECT_THAT(Refusal(config), HasSubstr("`mlp_only_layers` [0]; an import of Qwen3Moe"));
}

TEST(ImportedModelTest, SettingsOfAnOlmo) {
  json config = TinyLlamaConfig();
  config["architectures"] = {"OlmoForCausalLM"};
  config["model_type"] = "olmo";
  config["clip_qkv"] = nullptr;
  for (const char* key : {"rms_norm_eps", "mlp_bias", "head_dim", "pretraining_tp"}) {
    config.erase(key);
  }
  ModelConfig expected = TinyModel();
  expected.normalization = Normalization::kLayerNorm;
  expected.norm_weights = false;
  expected.norm_epsilon = 1e-5;
  const ImportedModel imported = ModelOfConfig(config, "config.json");
  EXPECT_EQ(imported.model, expected);
  const ImportedModel again = ModelOfFingerprint(ModelFingerprint(expected), "step_000000010");
  EXPECT_STREQ(again.family->architecture, "OlmoForCausalLM");
  EXPECT_EQ(ModelOfConfig(ConfigOf(again), "config.json").model, expected);
  for (const TensorShape& tensor : HuggingFaceShapes(again.family->tensors(expected))) {
    EXPECT_THAT(tensor.name, testing::Not(HasSubstr("norm")));
  }
  config["clip_qkv"] = 8.0;
  EXPECT_THAT(Refusal(config), HasSubstr("`clip_qkv` 8.0; an import of OlmoForCausalLM"));
}

// The config that GPT2Config.save_pretrained of transformers 4.46 writes, without settings that
// have no effect.
json TinyGpt2Config() {
  return json::parse(R"({
    "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
    "embd_pdrop": 0.1, "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 128,
    "n_embd": 32, "n_head": 4, "n_inner": null, "n_layer": 2, "n_positions": 128,
    "reorder_and_upcast_attn": false, "resid_pdrop": 0.1,
    "scale_attn_by_inverse_layer_idx": false, "scale_attn_weights": true,
    "summary_type": "cls_index", "vocab_size": 64})");
}

ModelConfig TinyGpt2() {
  ModelConfig model = TinyModel();
  model.ffn_hidden_size = 128;
  model.num_query_groups = 4;
  model.rotary_base = 10000;
  model.norm_epsilon = 1e-5;
  model.untie_embeddings_and_output_weights = false;
  model.normalization = Normalization::kLayerNorm;
  model.add_bias_linear = true;
  model.activation = Activation::kGeluTanh;
  model.position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  model.max_position_embeddings = 128;
  return model;
}

TEST(ImportedModelTest, SettingsOfAGpt2) {
  const ImportedModel imported = ModelOfConfig(TinyGpt2Config(), "config.json");
  EXPECT_EQ(imported.model, TinyGpt2());
  EXPECT_EQ(DropoutsOf(TinyGpt2Config(), *imported.family),
            "attn_pdrop 0.1, embd_pdrop 0.1, resid_pdrop 0.1");
  const ImportedModel again = ModelOfFingerprint(ModelFingerprint(TinyGpt2()), "step_000000010");
  EXPECT_STREQ(again.family->architecture, "GPT2LMHeadModel");
  EXPECT_EQ(ModelOfConfig(ConfigOf(again), "config.json").model, TinyGpt2());
  EXPECT_FALSE(ConfigOf(again).contains("rope_parameters"));
  json config = TinyGpt2Config();
  config["n_inner"] = 96;
  config["activation_function"] = "relu2";
  config["tie_word_embeddings"] = false;
  ModelConfig other = TinyGpt2();
  other.ffn_hidden_size = 96;
  other.activation = Activation::kSquaredRelu;
  other.untie_embeddings_and_output_weights = true;
  EXPECT_EQ(ModelOfConfig(config, "config.json").model, other);
}

TEST(ImportedModelTest, AGpt2ThatIsAnotherModel) {
  const auto refusal = [](const std::string& key, const json& value) {
    json config = TinyGpt2Config();
    config[key] = value;
    return Refusal(config);
  };
  EXPECT_THAT(
      refusal("activation_function", "relu"),
      HasSubstr("`activation_function` \"relu\"; an import of GPT2LMHeadModel supports only "
                "\"gelu_new\", "));
  EXPECT_THAT(refusal("scale_attn_weights", false), HasSubstr("`scale_attn_weights` false"));
  EXPECT_THAT(refusal("scale_attn_by_inverse_layer_idx", true),
              HasSubstr("`scale_attn_by_inverse_layer_idx` true"));
  EXPECT_THAT(refusal("add_cross_attention", true), HasSubstr("`add_cross_attention` true"));
  EXPECT_THAT(refusal("rope_theta", 10000.0), HasSubstr("arithmetic: `rope_theta`;"));
}

// The settings of GPT-NeoX 20B. transformers 4.48 and later write the rotary settings a second
// time, under other keys.
TEST(ImportedModelTest, SettingsOfAGptNeox) {
  const json config = json::parse(R"({
    "architectures": ["GPTNeoXForCausalLM"], "attention_probs_dropout_prob": 0,
    "hidden_act": "gelu_fast", "hidden_dropout_prob": 0, "hidden_size": 32,
    "intermediate_size": 64, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048,
    "model_type": "gpt_neox", "num_attention_heads": 4, "num_hidden_layers": 2,
    "partial_rotary_factor": 0.25, "rope_theta": 500000, "rotary_emb_base": 500000,
    "rotary_pct": 0.25, "tie_word_embeddings": false, "vocab_size": 64})");
  ModelConfig expected = TinyGpt2();
  expected.ffn_hidden_size = 64;
  expected.rotary_base = 500000;
  expected.rotary_percent = 0.25;
  expected.untie_embeddings_and_output_weights = true;
  expected.position_embedding_type = PositionEmbedding::kRope;
  expected.max_position_embeddings = 0;
  expected.parallel_residual = true;
  EXPECT_EQ(ModelOfConfig(config, "config.json").model, expected);
  const ImportedModel again = ModelOfFingerprint(ModelFingerprint(expected), "step_000000010");
  EXPECT_STREQ(again.family->architecture, "GPTNeoXForCausalLM");
  EXPECT_EQ(ModelOfConfig(ConfigOf(again), "config.json").model, expected);
  const json rotary = {
      {"partial_rotary_factor", 0.25}, {"rope_theta", 500000.0}, {"rope_type", "default"}};
  EXPECT_EQ(ConfigOf(again)["rope_parameters"], rotary);
  json other = config;
  other["rope_theta"] = 10000;
  EXPECT_THAT(Refusal(other), HasSubstr("`rotary_emb_base` 500000 and `rope_theta` 10000"));
  other = config;
  other["attention_bias"] = false;
  EXPECT_THAT(Refusal(other), HasSubstr("`attention_bias` false; an import of GPTNeoXForCausalLM"));
}

TEST(ImportedModelTest, GroupedQueriesHaveNoKeyInGpt2) {
  ModelConfig model = TinyGpt2();
  model.num_query_groups = 2;
  EXPECT_THAT(
      ErrorOf([&] { ModelOfFingerprint(ModelFingerprint(model), "step"); }, ExitCode::kBadConfig),
      HasSubstr("GPT2LMHeadModel has no key for `model.num_query_groups: 2`"));
}

TEST(ImportedModelTest, SettingsThatNoFamilyHasAreRefusedForEach) {
  ModelConfig model = TinyModel();
  model.normalization = Normalization::kLayerNorm;
  model.norm_epsilon = 1e-3;
  EXPECT_THAT(
      ErrorOf([&] { ModelOfFingerprint(ModelFingerprint(model), "step"); }, ExitCode::kBadConfig),
      AllOf(HasSubstr("LlamaForCausalLM has no key for `model.normalization: "),
            HasSubstr("OlmoForCausalLM has no key for `model.norm_epsilon: 0.001`"),
            HasSubstr("GPTNeoXForCausalLM has no key for `model.activation: ")));
}

TEST(ImportedModelTest, OtherArchitecturesAndDamagedFilesAreRefused) {
  EXPECT_THAT(
      Refusal(With("architectures", {"Gemma2ForCausalLM"})),
      HasSubstr("`architectures` [\"Gemma2ForCausalLM\"]; this version supports only Llama"));
  EXPECT_THAT(Refusal(With("model_type", "mistral")), HasSubstr("`model_type` \"mistral\""));
  EXPECT_THAT(Refusal(With("hidden_size", "wide")), HasSubstr("`model.hidden_size` must be a wh"));
  json uneven = With("hidden_size", 33);
  EXPECT_EQ(ModelOfConfig(uneven, "config.json").model.kv_channels, 8);
  uneven.erase("head_dim");
  EXPECT_THAT(Refusal(uneven), HasSubstr("must be a multiple of"));
  EXPECT_THAT(
      Refusal(With("tie_word_embeddings", 1)),
      HasSubstr("`tie_word_embeddings` 1; an import of LlamaForCausalLM supports only true, "
                "false"));
  EXPECT_THAT(Refusal(json::array()), HasSubstr("is not a JSON object"));
  json config = TinyLlamaConfig();
  config.erase("vocab_size");
  EXPECT_THAT(Refusal(config), HasSubstr("lacks `vocab_size`"));
}

TEST(ImportedModelTest, AConfigFromSettingsDescribesTheSameModel) {
  const ImportedModel imported =
      ModelOfFingerprint(ModelFingerprint(TinyModel()), "step_000000010");
  EXPECT_EQ(ModelOfConfig(ConfigOf(imported), "config.json").model, TinyModel());
  json expected = TinyLlamaConfig();
  for (const char* key :
       {"bos_token_id", "eos_token_id", "initializer_range", "pretraining_tp",
        "max_position_embeddings", "torch_dtype", "transformers_version", "use_cache"}) {
    expected.erase(key);
  }
  expected["rope_parameters"] = {{"rope_theta", 500000.0}, {"rope_type", "default"}};
  EXPECT_EQ(ConfigOf(imported), expected);
}

TEST(ImportedModelTest, FingerprintsOfOtherModelsAreRefused) {
  const auto refusal = [](const std::string& fingerprint, ExitCode code) {
    return ErrorOf([&] { ModelOfFingerprint(fingerprint, "step"); }, code);
  };
  EXPECT_THAT(refusal("tiny", ExitCode::kBadCheckpoint),
              HasSubstr("step does not describe its model"));
  json shape = ModelShape(TinyModel());
  shape["experts"] = 8;
  EXPECT_THAT(refusal(shape.dump(), ExitCode::kBadConfig), HasSubstr("`model.experts`"));
}

TEST(ImportedModelTest, TensorsOfALlama) {
  const ImportedModel imported = ModelOfConfig(TinyLlamaConfig(), "config.json");
  std::map<std::string, std::vector<int64_t>> expected, shapes;
  for (const auto& [name, tensor] : TinyLlama("F32")) expected[name] = tensor.shape;
  const std::vector<FamilyTensor> tensors = imported.family->tensors(imported.model);
  for (const auto& [name, shape] : HuggingFaceShapes(tensors)) shapes[name] = shape;
  EXPECT_EQ(shapes, expected);
}

}  // namespace
}  // namespace trainyard::trainer
