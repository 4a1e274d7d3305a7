// Checks that the resolver and the trainer agree: each must accept exactly the settings that the
// other accepts.
#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "proto/contract/run_config.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/rules.h"
#include "proto/json/message_json.h"
#include "trainer/config/run_config_json.h"
#include "trainer/config/trainer_error.h"

namespace trainyard {
namespace {

using nlohmann::json;

constexpr int kSpecs = 4000;

// Makes random settings. Most settings are valid on their own and consistent with the others.
// Occasionally, a setting is out of range.
class SpecMaker {
 public:
  explicit SpecMaker(unsigned seed) : random_(seed) {}

  json Make() {
    json spec = {{"name", "made"}, {"data", {{"path", "/data"}}}};
    RunConfig config;
    VisitSections(config, [&](const std::string& name, auto& section) {
      VisitSettings(section, [&](const char* key, const SettingRule& rule, auto& value) {
        if (Chance(6)) spec[name][key] = Value(rule, value);
      });
    });
    AddConsistentSizes(spec);
    return spec;
  }

 private:
  bool Chance(int one_in) { return Pick(one_in) == 0; }
  int64_t Pick(int64_t below) { return static_cast<int64_t>(random_() % below); }

  template <typename Setting>
  std::string Name() {
    const auto& names = SettingNames<Setting>::kNames;
    return std::string(names[Pick(names.size())].first);
  }

  template <typename Setting>
  json Value(const SettingRule& rule, const Setting&) {
    if constexpr (NamedSetting<Setting>) {
      return Chance(30) ? "unknown" : Name<Setting>();
    } else if constexpr (std::is_same_v<Setting, bool> ||
                         std::is_same_v<Setting, std::optional<bool>>) {
      return Chance(2);
    } else if constexpr (std::is_same_v<Setting, std::string>) {
      return Chance(20) ? "" : "/some/path";
    } else if constexpr (std::is_same_v<Setting, std::vector<std::string>>) {
      const char* entries[] = {"1 /some/path", "0.25 /other", "val /a", "code /b", "1", "-1 /c"};
      json list = json::array();
      for (int64_t i = Pick(3); i > 0; --i) list.push_back(entries[Pick(Chance(9) ? 6 : 4)]);
      return list;
    } else if constexpr (std::is_same_v<Setting, double>) {
      return Number(rule);
    } else {
      return static_cast<int64_t>(Number(rule));
    }
  }

  // Returns a limit of the rule, a number next to a limit, or a small number.
  double Number(const SettingRule& rule) {
    const double max = std::min(rule.max, 1e15);
    const double choices[] = {std::max(rule.min, -1e15),    max,    1, 2,
                              static_cast<double>(Pick(9)), max / 2};
    return Chance(60) ? (Chance(2) ? max + 1 : std::max(rule.min, -1e15) - 1) : choices[Pick(6)];
  }

  void AddRampup(json& train) {
    const bool keeps = Chance(30);
    for (const char* key :
         {"samples", "rampup_batch_start", "rampup_batch_increment", "rampup_batch_samples"}) {
      if (!keeps) train.erase(key);
    }
    if (!Chance(4)) return;
    train["rampup_batch_start"] = 4 * (1 + Pick(2));
    train["rampup_batch_increment"] = 4;
    train["rampup_batch_samples"] = 1 + Pick(100);
  }

  void AddPositions(json& model) {
    if (Chance(30)) return;
    for (const char* key : {"position_embedding_type", "max_position_embeddings"}) model.erase(key);
    model["rotary_percent"] = 0.25 * static_cast<double>(1 + Pick(4));
    if (!Chance(4)) return;
    for (const char* key :
         {"rotary_percent", "rotary_base", "rope_scaling_factor", "rope_low_freq_factor",
          "rope_high_freq_factor", "rope_original_length", "rope_scaling_type", "rope_beta_fast",
          "rope_beta_slow", "rope_mscale", "rope_mscale_all_dim"}) {
      model.erase(key);
    }
    model["position_embedding_type"] = "learned_absolute";
    model["max_position_embeddings"] = 8 + Pick(4);
  }

  // Most specs must not have both kinds of biases, which exclude each other.
  void AddBiases(json& model) {
    if (model.contains("add_bias_linear") && !Chance(20)) model.erase("add_qkv_bias");
  }

  // Most specs must have neither FP8, which both resolver and trainer reject, nor random
  // combinations of settings for experts, latent attention and multi-token prediction.
  void AddFeatures(json& spec) {
    if (Chance(20)) return;
    RemoveFeatures(spec);
    json& model = spec["model"];
    if (Chance(3)) AddExperts(model);
    if (Chance(4)) AddLatentAttention(model);
    if (Chance(4)) AddMultiTokenPrediction(model);
  }

  static void RemoveFeatures(json& spec) {
    for (const char* section : {"layout", "model", "train"}) {
      if (!spec.contains(section)) continue;
      const json all = spec[section];
      for (const auto& [key, value] : all.items()) {
        if (IsOfFeature(key)) spec[section].erase(key);
      }
    }
  }

  static bool IsOfFeature(const std::string& key) {
    const char* beginnings[] = {"etp",           "fp8",         "moe_",      "mtp_",
                                "multi_latent_", "q_lora",      "kv_lora",   "num_experts",
                                "qk_head_dim",   "qk_pos_emb_", "v_head_dim"};
    return std::any_of(std::begin(beginnings), std::end(beginnings),
                       [&](const char* beginning) { return key.starts_with(beginning); });
  }

  void AddExperts(json& model) {
    model.erase("add_bias_linear");
    model["num_experts"] = 4 * (1 + Pick(2));
    model["moe_router_topk"] = 1 + Pick(2);
    if (Chance(2)) model["moe_ffn_hidden_size"] = 16 * (1 + Pick(3));
    if (Chance(3)) model["moe_shared_expert_intermediate_size"] = 16;
    const int64_t layers = model["num_layers"].get<int64_t>();
    if (layers > 1 && Chance(3)) model["moe_dense_layers"] = layers - 1;
    if (Chance(3)) {
      model["moe_expert_capacity_factor"] = 1.25;
      model["moe_token_drop_policy"] = Name<TokenDropPolicy>();
    }
    AddRouter(model);
  }

  void AddRouter(json& model) {
    model["moe_router_load_balancing_type"] = Name<RouterLoadBalancing>();
    if (Chance(2)) model["moe_aux_loss_coeff"] = 0.01;
    if (Chance(3)) model["moe_z_loss_coeff"] = 0.001;
    if (Chance(3)) model["moe_norm_topk_prob"] = false;
    if (Chance(3)) model["moe_router_topk_scaling_factor"] = 2.5;
    if (Chance(4)) model["moe_router_force_load_balancing"] = true;
    if (Chance(3)) {
      model["moe_router_num_groups"] = 2;
      model["moe_router_group_topk"] = 1 + Pick(2);
    }
    if (Chance(2)) return;
    model["moe_router_score_function"] = "sigmoid";
    if (Chance(2)) return;
    model["moe_router_enable_expert_bias"] = true;
    if (Chance(2)) model["moe_router_bias_update_rate"] = 0.01;
  }

  void AddLatentAttention(json& model) {
    for (const char* key : {"kv_channels", "qk_layernorm", "rotary_percent", "num_query_groups",
                            "position_embedding_type", "max_position_embeddings", "add_bias_linear",
                            "add_qkv_bias"}) {
      model.erase(key);
    }
    model["multi_latent_attention"] = true;
    model["kv_lora_rank"] = 8;
    model["qk_head_dim"] = 4 * (1 + Pick(3));
    model["qk_pos_emb_head_dim"] = 2 * (1 + Pick(4));
    model["v_head_dim"] = 4 * (1 + Pick(3));
    if (Chance(2)) model["q_lora_rank"] = 12;
  }

  void AddMultiTokenPrediction(json& model) {
    for (const char* key : {"position_embedding_type", "max_position_embeddings"}) model.erase(key);
    model["mtp_num_layers"] = 1 + Pick(2);
    if (Chance(2)) model["mtp_loss_scaling_factor"] = 0.3;
  }

  // Distributes the experts over the ranks. Some of these layouts break a rule.
  void AddExpertLayout(json& spec) {
    if (!spec["model"].contains("num_experts") || Chance(2)) return;
    const json& resources = spec["resources"];
    const int64_t ranks =
        resources["nodes"].get<int64_t>() * resources["slots_per_node"].get<int64_t>();
    spec["layout"] = {{"tp", Chance(2) ? 1 : ranks}, {"ep", Chance(2) ? ranks : 1 + Pick(2)}};
    if (Chance(2)) spec["layout"]["etp"] = 1;
    if (Chance(3)) spec["layout"]["sequence_parallel"] = Chance(4);
    if (Chance(3)) {
      spec["layout"]["moe_token_dispatcher_type"] = Name<TokenDispatcher>();
    }
  }

  // Adjusts sizes so that most specs satisfy the rules that involve several settings.
  void AddConsistentSizes(json& spec) {
    const int64_t heads = 1 + Pick(4);
    spec["model"]["num_layers"] = 1 + Pick(3);
    spec["model"]["num_attention_heads"] = heads;
    spec["model"]["hidden_size"] = heads * 8;
    spec["model"]["ffn_hidden_size"] = 64;
    spec["model"]["vocab_size"] = 100;
    AddPositions(spec["model"]);
    AddFeatures(spec);
    AddBiases(spec["model"]);
    spec["train"]["seq_length"] = 8;
    spec["train"]["global_batch"] = 8 * (1 + Pick(3));
    const bool by_steps = Chance(2);
    if (by_steps || Chance(12)) spec["train"]["steps"] = 1 + Pick(40);
    if (!by_steps || Chance(12)) spec["train"]["tokens"] = 1 + Pick(5000);
    AddRampup(spec["train"]);
    if (!Chance(8)) spec["train"]["precision"] = "fp32";
    for (const char* key :
         {"initial_loss_scale", "min_loss_scale", "loss_scale_window", "hysteresis"}) {
      if (!Chance(20)) spec["train"].erase(key);
    }
    if (!Chance(4)) spec["train"].erase("attention_backend");
    if (!Chance(4)) spec["data"].erase("eod_token");
    if (!Chance(3)) spec.erase("layout");
    if (!Chance(3)) spec["schedule"] = {{"warmup_steps", Pick(3)}};
    if (Chance(8)) spec["schedule"] = {{"warmup_samples", 1 + Pick(40)}, {"decay_fraction", 0.9}};
    if (!Chance(3)) spec.erase("optimizer");
    if (!Chance(6)) spec.erase("checkpoint");
    if (!Chance(3)) spec.erase("evaluation");
    spec["resources"]["slots_per_node"] = 1 + Pick(2);
    spec["resources"]["nodes"] = 1 + Pick(2);
    AddExpertLayout(spec);
    if (Chance(12)) spec["model"].erase("num_layers");
    if (Chance(12)) spec["data"].erase("path");
  }

  std::mt19937 random_;
};

// Returns the errors that `submit` reports for the settings; "" if it accepts them.
std::string Refusal(const json& settings, v1::JobSpec& resolved) {
  const absl::StatusOr<ResolvedSpec> answer =
      ResolveJobFile(kSentJobFile, {}, SentJobFileReader(settings.dump(), {}));
  if (!answer.ok()) return std::string(answer.status().message());
  resolved = answer->spec;
  return absl::StrJoin(CheckLaunch(answer->spec, {}), "\n");
}

// Returns the error that the trainer reports on one of `world_size` ranks; "" if it accepts the
// settings.
std::string TrainersRefusal(const json& settings, int world_size, RunConfig& config) {
  try {
    config = trainer::ParseRunConfig(settings);
    trainer::ResolveRunConfig(world_size, config);
    return "";
  } catch (const trainer::TrainerError& error) {
    return error.what();
  }
}

int WorldSizeOf(const json& settings) {
  return settings["resources"]["nodes"].get<int>() *
         settings["resources"]["slots_per_node"].get<int>();
}

TEST(TrainerAgreementTest, BothAcceptTheSameSettings) {
  int accepted = 0;
  std::map<std::string, int> of_feature = {
      {"num_experts", 0}, {"kv_lora_rank", 0}, {"mtp_num_layers", 0}};
  for (unsigned seed = 0; seed < kSpecs; ++seed) {
    const json settings = SpecMaker(seed).Make();
    v1::JobSpec resolved;
    RunConfig config;
    const std::string refusal = Refusal(settings, resolved);
    const std::string trainers = TrainersRefusal(settings, WorldSizeOf(settings), config);
    EXPECT_EQ(refusal.empty(), trainers.empty())
        << settings << "\nsubmit: " << refusal << "\ntrainer: " << trainers;
    accepted += refusal.empty();
    for (auto& [key, count] : of_feature) {
      count += refusal.empty() && settings["model"].contains(key);
    }
  }
  // The test proves little unless both accepted and rejected specs occur often.
  EXPECT_GT(accepted, kSpecs / 16);
  EXPECT_LT(accepted, kSpecs * 11 / 12);
  for (const auto& [key, count] : of_feature) EXPECT_GT(count, kSpecs / 200) << key;
}

TEST(TrainerAgreementTest, TheTrainerReadsTheResolvedJobAsItWasResolved) {
  for (unsigned seed = 0; seed < kSpecs; ++seed) {
    const json settings = SpecMaker(seed).Make();
    v1::JobSpec resolved;
    if (!Refusal(settings, resolved).empty()) continue;
    RunConfig config;
    const std::string refusal =
        TrainersRefusal(MessageToJson(resolved), WorldSize(resolved), config);
    EXPECT_EQ(refusal, "") << settings;
    EXPECT_EQ(config, RunConfigOf(resolved)) << settings;
  }
}

TEST(TrainerAgreementTest, TokensInPlaceOfARecipesSteps) {
  const std::string file =
      "name: t\nextends: llama-tiny-cpu\ndata: {path: /data}\ntrain: {tokens: 1M}\n";
  const auto resolved =
      ResolveJobFile(kSentJobFile, {}, SentJobFileReader(file, {RECIPES_DIRECTORY}));
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  RunConfig config;
  EXPECT_EQ(TrainersRefusal(MessageToJson(resolved->spec), WorldSize(resolved->spec), config), "");
  EXPECT_EQ(config.train.tokens, 1'000'000);
  EXPECT_EQ(config.train.steps, 489) << "of 16 * 128 tokens each";
}

}  // namespace
}  // namespace trainyard
