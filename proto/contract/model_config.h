// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.
//
// Section `model` of a job file (run_config.h).
#ifndef TRAINYARD_PROTO_CONTRACT_MODEL_CONFIG_H_
#define TRAINYARD_PROTO_CONTRACT_MODEL_CONFIG_H_

#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "proto/contract/setting_rule.h"

// clang-format off
namespace trainyard {

enum class Normalization { kRmsNorm = 1, kLayerNorm = 2 };

template <>
struct SettingNames<Normalization> {
  static constexpr std::array<std::pair<std::string_view, Normalization>, 2> kNames = {{
      {"rms_norm", Normalization::kRmsNorm},
      {"layer_norm", Normalization::kLayerNorm}}};
};

enum class Activation { kSwiglu = 1, kGelu = 2, kGeluTanh = 3, kSquaredRelu = 4 };

template <>
struct SettingNames<Activation> {
  static constexpr std::array<std::pair<std::string_view, Activation>, 4> kNames = {{
      {"swiglu", Activation::kSwiglu},
      {"gelu", Activation::kGelu},
      {"gelu_tanh", Activation::kGeluTanh},
      {"squared_relu", Activation::kSquaredRelu}}};
};

enum class PositionEmbedding { kRope = 1, kLearnedAbsolute = 2 };

template <>
struct SettingNames<PositionEmbedding> {
  static constexpr std::array<std::pair<std::string_view, PositionEmbedding>, 2> kNames = {{
      {"rope", PositionEmbedding::kRope},
      {"learned_absolute", PositionEmbedding::kLearnedAbsolute}}};
};

enum class RopeScalingType { kLlama3 = 1, kYarn = 2 };

template <>
struct SettingNames<RopeScalingType> {
  static constexpr std::array<std::pair<std::string_view, RopeScalingType>, 2> kNames = {{
      {"llama3", RopeScalingType::kLlama3},
      {"yarn", RopeScalingType::kYarn}}};
};

enum class RouterScoreFunction { kSoftmax = 1, kSigmoid = 2 };

template <>
struct SettingNames<RouterScoreFunction> {
  static constexpr std::array<std::pair<std::string_view, RouterScoreFunction>, 2> kNames = {{
      {"softmax", RouterScoreFunction::kSoftmax},
      {"sigmoid", RouterScoreFunction::kSigmoid}}};
};

enum class RouterLoadBalancing { kAuxLoss = 1, kSeqAuxLoss = 2, kNone = 3 };

template <>
struct SettingNames<RouterLoadBalancing> {
  static constexpr std::array<std::pair<std::string_view, RouterLoadBalancing>, 3> kNames = {{
      {"aux_loss", RouterLoadBalancing::kAuxLoss},
      {"seq_aux_loss", RouterLoadBalancing::kSeqAuxLoss},
      {"none", RouterLoadBalancing::kNone}}};
};

enum class TokenDropPolicy { kProbs = 1, kPosition = 2 };

template <>
struct SettingNames<TokenDropPolicy> {
  static constexpr std::array<std::pair<std::string_view, TokenDropPolicy>, 2> kNames = {{
      {"probs", TokenDropPolicy::kProbs},
      {"position", TokenDropPolicy::kPosition}}};
};

struct ModelConfig {
  int64_t num_layers = 0;
  int64_t hidden_size = 0;
  int64_t ffn_hidden_size = 0;
  int64_t num_attention_heads = 0;
  int64_t num_query_groups = 0;
  int64_t vocab_size = 0;
  double rotary_base = 10000;
  double norm_epsilon = 1e-5;
  bool untie_embeddings_and_output_weights = true;
  double init_method_std = 0.02;
  int64_t kv_channels = 0;
  bool qk_layernorm = false;
  double rope_scaling_factor = 1;
  double rope_low_freq_factor = 1;
  double rope_high_freq_factor = 4;
  int64_t rope_original_length = 8192;
  Normalization normalization = Normalization::kRmsNorm;
  bool norm_weights = true;
  bool add_bias_linear = false;
  bool add_qkv_bias = false;
  Activation activation = Activation::kSwiglu;
  PositionEmbedding position_embedding_type = PositionEmbedding::kRope;
  int64_t max_position_embeddings = 0;
  double rotary_percent = 1;
  bool parallel_residual = false;
  double output_layer_init_method_std = 0;
  RopeScalingType rope_scaling_type = RopeScalingType::kLlama3;
  double rope_beta_fast = 32;
  double rope_beta_slow = 1;
  double rope_mscale = 1;
  double rope_mscale_all_dim = 0;
  int64_t window_size = 0;
  int64_t num_experts = 0;
  int64_t moe_router_topk = 0;
  int64_t moe_ffn_hidden_size = 0;
  int64_t moe_shared_expert_intermediate_size = 0;
  int64_t moe_dense_layers = 0;
  RouterScoreFunction moe_router_score_function = RouterScoreFunction::kSoftmax;
  RouterLoadBalancing moe_router_load_balancing_type = RouterLoadBalancing::kAuxLoss;
  double moe_aux_loss_coeff = 0;
  bool moe_norm_topk_prob = true;
  double moe_router_topk_scaling_factor = 1;
  int64_t moe_router_num_groups = 0;
  int64_t moe_router_group_topk = 0;
  bool moe_router_enable_expert_bias = false;
  double moe_router_bias_update_rate = 1e-3;
  double moe_z_loss_coeff = 0;
  double moe_expert_capacity_factor = 0;
  TokenDropPolicy moe_token_drop_policy = TokenDropPolicy::kProbs;
  int64_t mtp_num_layers = 0;
  double mtp_loss_scaling_factor = 0.1;
  bool moe_router_force_load_balancing = false;
  bool multi_latent_attention = false;
  int64_t q_lora_rank = 0;
  int64_t kv_lora_rank = 0;
  int64_t qk_head_dim = 0;
  int64_t qk_pos_emb_head_dim = 0;
  int64_t v_head_dim = 0;

  bool operator==(const ModelConfig&) const = default;
};

// Calls visit(key, rule, value) for each setting.
template <typename Config, typename Visit>
  requires std::same_as<std::remove_const_t<Config>, ModelConfig>
void VisitSettings(Config& config, Visit&& visit) {
  visit("num_layers", SettingRule{.min = 1, .max = 1000, .required = true}, config.num_layers);
  visit("hidden_size", SettingRule{.min = 8, .max = 131072, .required = true}, config.hidden_size);
  visit("ffn_hidden_size", SettingRule{.min = 8, .max = 1048576, .required = true},
        config.ffn_hidden_size);
  visit("num_attention_heads", SettingRule{.min = 1, .max = 1024, .required = true},
        config.num_attention_heads);
  visit("num_query_groups", SettingRule{.min = 1, .max = 1024}, config.num_query_groups);
  visit("vocab_size", SettingRule{.min = 2, .max = 4194304, .required = true}, config.vocab_size);
  visit("rotary_base", SettingRule{.min = 1, .max = 1000000000, .has_default = true},
        config.rotary_base);
  visit("norm_epsilon", SettingRule{.min = 1e-12, .max = 0.01, .has_default = true},
        config.norm_epsilon);
  visit("untie_embeddings_and_output_weights", SettingRule{.has_default = true},
        config.untie_embeddings_and_output_weights);
  visit("init_method_std", SettingRule{.min = 1e-09, .max = 10, .has_default = true},
        config.init_method_std);
  visit("kv_channels", SettingRule{.min = 2, .max = 65536}, config.kv_channels);
  visit("qk_layernorm", SettingRule{.has_default = true}, config.qk_layernorm);
  visit("rope_scaling_factor", SettingRule{.min = 1, .max = 1000000, .has_default = true},
        config.rope_scaling_factor);
  visit("rope_low_freq_factor", SettingRule{.min = 0.001, .max = 1000000, .has_default = true},
        config.rope_low_freq_factor);
  visit("rope_high_freq_factor", SettingRule{.min = 0.001, .max = 1000000, .has_default = true},
        config.rope_high_freq_factor);
  visit("rope_original_length", SettingRule{.min = 1, .max = 16777216, .has_default = true},
        config.rope_original_length);
  visit("normalization", SettingRule{.has_default = true}, config.normalization);
  visit("norm_weights", SettingRule{.has_default = true}, config.norm_weights);
  visit("add_bias_linear", SettingRule{.has_default = true}, config.add_bias_linear);
  visit("add_qkv_bias", SettingRule{.has_default = true}, config.add_qkv_bias);
  visit("activation", SettingRule{.has_default = true}, config.activation);
  visit("position_embedding_type", SettingRule{.has_default = true},
        config.position_embedding_type);
  visit("max_position_embeddings", SettingRule{.min = 2, .max = 16777216},
        config.max_position_embeddings);
  visit("rotary_percent", SettingRule{.min = 0.001, .max = 1, .has_default = true},
        config.rotary_percent);
  visit("parallel_residual", SettingRule{.has_default = true}, config.parallel_residual);
  visit("output_layer_init_method_std", SettingRule{.min = 1e-09, .max = 10},
        config.output_layer_init_method_std);
  visit("rope_scaling_type", SettingRule{.has_default = true}, config.rope_scaling_type);
  visit("rope_beta_fast", SettingRule{.min = 0.001, .max = 1000000, .has_default = true},
        config.rope_beta_fast);
  visit("rope_beta_slow", SettingRule{.min = 0.001, .max = 1000000, .has_default = true},
        config.rope_beta_slow);
  visit("rope_mscale", SettingRule{.min = 0, .max = 100, .has_default = true}, config.rope_mscale);
  visit("rope_mscale_all_dim", SettingRule{.min = 0, .max = 100, .has_default = true},
        config.rope_mscale_all_dim);
  visit("window_size", SettingRule{.min = 1, .max = 16777216}, config.window_size);
  visit("num_experts", SettingRule{.min = 1, .max = 65536}, config.num_experts);
  visit("moe_router_topk", SettingRule{.min = 1, .max = 65536}, config.moe_router_topk);
  visit("moe_ffn_hidden_size", SettingRule{.min = 8, .max = 1048576}, config.moe_ffn_hidden_size);
  visit("moe_shared_expert_intermediate_size", SettingRule{.min = 8, .max = 1048576},
        config.moe_shared_expert_intermediate_size);
  visit("moe_dense_layers", SettingRule{.min = 1, .max = 1000}, config.moe_dense_layers);
  visit("moe_router_score_function", SettingRule{.has_default = true},
        config.moe_router_score_function);
  visit("moe_router_load_balancing_type", SettingRule{.has_default = true},
        config.moe_router_load_balancing_type);
  visit("moe_aux_loss_coeff", SettingRule{.min = 1e-09, .max = 1000}, config.moe_aux_loss_coeff);
  visit("moe_norm_topk_prob", SettingRule{.has_default = true}, config.moe_norm_topk_prob);
  visit("moe_router_topk_scaling_factor", SettingRule{.min = 0.1, .max = 100, .has_default = true},
        config.moe_router_topk_scaling_factor);
  visit("moe_router_num_groups", SettingRule{.min = 2, .max = 65536}, config.moe_router_num_groups);
  visit("moe_router_group_topk", SettingRule{.min = 1, .max = 65536}, config.moe_router_group_topk);
  visit("moe_router_enable_expert_bias", SettingRule{.has_default = true},
        config.moe_router_enable_expert_bias);
  visit("moe_router_bias_update_rate", SettingRule{.min = 0, .max = 1, .has_default = true},
        config.moe_router_bias_update_rate);
  visit("moe_z_loss_coeff", SettingRule{.min = 1e-09, .max = 1000}, config.moe_z_loss_coeff);
  visit("moe_expert_capacity_factor", SettingRule{.min = 0.001, .max = 65536},
        config.moe_expert_capacity_factor);
  visit("moe_token_drop_policy", SettingRule{.has_default = true}, config.moe_token_drop_policy);
  visit("mtp_num_layers", SettingRule{.min = 1, .max = 16}, config.mtp_num_layers);
  visit("mtp_loss_scaling_factor", SettingRule{.min = 1e-09, .max = 1000, .has_default = true},
        config.mtp_loss_scaling_factor);
  visit("moe_router_force_load_balancing", SettingRule{.has_default = true},
        config.moe_router_force_load_balancing);
  visit("multi_latent_attention", SettingRule{.has_default = true}, config.multi_latent_attention);
  visit("q_lora_rank", SettingRule{.min = 1, .max = 1048576}, config.q_lora_rank);
  visit("kv_lora_rank", SettingRule{.min = 1, .max = 1048576}, config.kv_lora_rank);
  visit("qk_head_dim", SettingRule{.min = 1, .max = 65536}, config.qk_head_dim);
  visit("qk_pos_emb_head_dim", SettingRule{.min = 2, .max = 65536}, config.qk_pos_emb_head_dim);
  visit("v_head_dim", SettingRule{.min = 1, .max = 65536}, config.v_head_dim);
}

}  // namespace trainyard
// clang-format on

#endif  // TRAINYARD_PROTO_CONTRACT_MODEL_CONFIG_H_
