// Settings of model families. The settings are applied to a model whose sizes are already set.
#ifndef TRAINYARD_TESTS_TRAINER_MODEL_FAMILY_SETTINGS_H_
#define TRAINYARD_TESTS_TRAINER_MODEL_FAMILY_SETTINGS_H_

#include <cstdint>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// From Radford et al. 2019. The model of Brown et al. 2020, arXiv 2005.14165, differs only in its
// sizes.
inline void MakeGpt2(ModelConfig& model, int64_t max_positions) {
  model.normalization = Normalization::kLayerNorm;
  model.add_bias_linear = true;
  model.activation = Activation::kGeluTanh;
  model.position_embedding_type = PositionEmbedding::kLearnedAbsolute;
  model.max_position_embeddings = max_positions;
  model.untie_embeddings_and_output_weights = false;
}

// Megatron-LM's GPT-3 15B, with rotary positions and squared ReLU. The caller sets the grouped
// queries together with the sizes. Here, rotary positions apply to half of each head.
inline void MakeGpt3_15b(ModelConfig& model) {
  model.normalization = Normalization::kLayerNorm;
  model.add_bias_linear = true;
  model.activation = Activation::kSquaredRelu;
  model.rotary_percent = 0.5;
}

// From Black et al. 2022, arXiv 2204.06745, but with the exact GELU of Pythia (arXiv 2304.01373).
inline void MakeGptNeox(ModelConfig& model) {
  model.normalization = Normalization::kLayerNorm;
  model.add_bias_linear = true;
  model.activation = Activation::kGelu;
  model.rotary_percent = 0.25;
  model.parallel_residual = true;
}

// From Jiang et al. 2024, arXiv 2401.04088.
inline void MakeMixtral(ModelConfig& model) {
  model.num_experts = 4;
  model.moe_router_topk = 2;
}

// From Yang et al. 2025, arXiv 2505.09388: narrow experts and normalized heads.
inline void MakeQwen3Moe(ModelConfig& model) {
  model.num_experts = 8;
  model.moe_router_topk = 3;
  model.moe_ffn_hidden_size = 8;
  model.kv_channels = 6;
  model.qk_layernorm = true;
}

// The experts of DeepSeek-V3, arXiv 2412.19437, after one dense layer, with plain attention.
inline void MakeDeepSeekMoe(ModelConfig& model) {
  model.num_experts = 8;
  model.moe_router_topk = 2;
  model.moe_ffn_hidden_size = 8;
  model.moe_shared_expert_intermediate_size = 12;
  model.moe_dense_layers = 1;
  model.moe_router_score_function = RouterScoreFunction::kSigmoid;
  model.moe_router_topk_scaling_factor = 2.5;
  model.moe_router_num_groups = 4;
  model.moe_router_group_topk = 2;
  model.moe_router_enable_expert_bias = true;
}

// DeepSeek-V3 with its latent attention. Value heads are smaller than query heads.
inline void MakeDeepSeekV3(ModelConfig& model) {
  MakeDeepSeekMoe(model);
  model.num_query_groups = model.num_attention_heads;
  model.multi_latent_attention = true;
  model.q_lora_rank = 10;
  model.kv_lora_rank = 12;
  model.qk_head_dim = 8;
  model.qk_pos_emb_head_dim = 4;
  model.v_head_dim = 6;
  model.norm_epsilon = 1e-6;
}

// DeepSeek-V3 with YaRN positions, which change the second of two frequencies and the scores.
inline void MakeDeepSeekV3WithYarn(ModelConfig& model) {
  MakeDeepSeekV3(model);
  model.rotary_base = 100;
  model.rope_scaling_type = RopeScalingType::kYarn;
  model.rope_scaling_factor = 40;
  model.rope_original_length = 32;
  model.rope_beta_fast = 2;
  model.rope_mscale = 0.7;
  model.rope_mscale_all_dim = 1;
}

// DeepSeek-V2-Lite, arXiv 2405.04434: queries are computed from the hidden state, and the weights
// of experts are not normalized.
inline void MakeDeepSeekV2Lite(ModelConfig& model) {
  MakeDeepSeekV3(model);
  model.q_lora_rank = 0;
  model.moe_router_score_function = RouterScoreFunction::kSoftmax;
  model.moe_router_enable_expert_bias = false;
  model.moe_router_topk_scaling_factor = 1;
  model.moe_router_num_groups = 0;
  model.moe_router_group_topk = 0;
  model.moe_norm_topk_prob = false;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_MODEL_FAMILY_SETTINGS_H_
