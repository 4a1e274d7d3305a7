#include "proto/model/model_fingerprint.h"

#include <array>
#include <nlohmann/json.hpp>

#include "proto/model/settings_json.h"

namespace trainyard {
namespace {

// Settings that earlier versions did not write into checkpoints. If such a setting is missing in a
// checkpoint, the setting had its default value.
constexpr std::array kLaterSettings = {"normalization",
                                       "norm_weights",
                                       "qk_layernorm",
                                       "rope_scaling_factor",
                                       "rope_low_freq_factor",
                                       "rope_high_freq_factor",
                                       "rope_original_length",
                                       "rope_scaling_type",
                                       "rope_beta_fast",
                                       "rope_beta_slow",
                                       "rope_mscale",
                                       "rope_mscale_all_dim",
                                       "add_bias_linear",
                                       "add_qkv_bias",
                                       "activation",
                                       "rotary_percent",
                                       "parallel_residual",
                                       "position_embedding_type",
                                       "moe_router_score_function",
                                       "moe_norm_topk_prob",
                                       "moe_router_topk_scaling_factor",
                                       "moe_router_enable_expert_bias",
                                       "multi_latent_attention"};

// Settings that matter only when the weights are initialized or trained. For example, a model that
// was trained with a limit on the rows of each expert is used without this limit.
constexpr std::array kTrainingSettings = {"init_method_std",
                                          "output_layer_init_method_std",
                                          "moe_router_load_balancing_type",
                                          "moe_aux_loss_coeff",
                                          "moe_router_bias_update_rate",
                                          "moe_z_loss_coeff",
                                          "moe_expert_capacity_factor",
                                          "moe_token_drop_policy",
                                          "mtp_loss_scaling_factor",
                                          "moe_router_force_load_balancing"};

}  // namespace

nlohmann::json ModelShape(const ModelConfig& model) {
  RunConfig config;
  config.model = model;
  nlohmann::json shape = RunConfigToJson(config)["model"];
  for (const char* key : kTrainingSettings) shape.erase(key);
  const nlohmann::json usual = RunConfigToJson(RunConfig())["model"];
  for (const char* key : kLaterSettings) {
    if (shape.contains(key) && usual.contains(key) && shape[key] == usual[key]) shape.erase(key);
  }
  return shape;
}

std::string ModelFingerprint(const ModelConfig& model) { return ModelShape(model).dump(); }

// A missing later setting has its default value.
std::string ModelDifferences(const nlohmann::json& here, const nlohmann::json& there) {
  const nlohmann::json usual = RunConfigToJson(RunConfig())["model"];
  nlohmann::json keys = here;
  keys.update(there);
  std::string text;
  for (const auto& [key, _] : keys.items()) {
    const nlohmann::json missing = usual.value(key, nlohmann::json());
    const nlohmann::json left = here.value(key, missing), right = there.value(key, missing);
    if (left == right) continue;
    text += (text.empty() ? "" : ", ") + ("model." + key) + " is " + left.dump() +
            " in this job and " + right.dump() + " in the checkpoint";
  }
  return text;
}

}  // namespace trainyard
