// A tiny DeepSeek-V3 in the format of Hugging Face.
#ifndef TRAINYARD_TESTS_TRAINER_CHECKPOINT_TOOLS_TINY_DEEPSEEK_H_
#define TRAINYARD_TESTS_TRAINER_CHECKPOINT_TOOLS_TINY_DEEPSEEK_H_

#include <nlohmann/json.hpp>

#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "trainer/checkpoint_tools/families/imported_model.h"

namespace trainyard::trainer {

// The config.json of DeepSeek-V3 as published (2024-12), with small sizes.
inline nlohmann::json TinyDeepSeekV3Config() {
  return nlohmann::json::parse(R"({
    "architectures": ["DeepseekV3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
    "auto_map": {"AutoConfig": "configuration_deepseek.DeepseekV3Config"}, "bos_token_id": 0,
    "eos_token_id": 1, "ep_size": 1, "first_k_dense_replace": 1, "hidden_act": "silu",
    "hidden_size": 32, "initializer_range": 0.02, "intermediate_size": 64, "kv_lora_rank": 12,
    "max_position_embeddings": 163840, "model_type": "deepseek_v3", "moe_intermediate_size": 16,
    "moe_layer_freq": 1, "n_group": 4, "n_routed_experts": 8, "n_shared_experts": 2,
    "norm_topk_prob": true, "num_attention_heads": 4, "num_experts_per_tok": 2,
    "num_hidden_layers": 2, "num_key_value_heads": 4, "num_nextn_predict_layers": 1,
    "q_lora_rank": 10, "qk_nope_head_dim": 8, "qk_rope_head_dim": 4,
    "quantization_config": {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8",
                            "weight_block_size": [128, 128]},
    "rms_norm_eps": 1e-06,
    "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40, "mscale": 1.0,
                     "mscale_all_dim": 0.5, "original_max_position_embeddings": 4096,
                     "type": "yarn"},
    "rope_theta": 10000, "routed_scaling_factor": 2.5, "scoring_func": "sigmoid",
    "tie_word_embeddings": false, "topk_group": 2, "topk_method": "noaux_tc",
    "torch_dtype": "bfloat16", "use_cache": true, "v_head_dim": 6, "vocab_size": 64})");
}

// Returns random weights for TinyDeepSeekV3Config. Weights are bf16, and the bias of experts is
// fp32, as published.
inline RawTensors TinyDeepSeekV3Tensors() {
  const ImportedModel imported = ModelOfConfig(TinyDeepSeekV3Config(), "config.json");
  std::mt19937 random(20261129);
  RawTensors tensors;
  for (const auto& [name, shape] : HuggingFaceShapes(imported.family->tensors(imported.model))) {
    const bool is_bias = name.ends_with("e_score_correction_bias");
    tensors[name] = RandomTensor(is_bias ? "F32" : "BF16", shape, &random);
  }
  return tensors;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_CHECKPOINT_TOOLS_TINY_DEEPSEEK_H_
