#include "trainer/checkpoint_tools/families/qwen3_moe_family.h"

#include <nlohmann/json.hpp>

#include "proto/model/model_size.h"
#include "trainer/checkpoint_tools/families/llama_layout.h"

namespace trainyard::trainer {
namespace {

std::vector<FamilyTensor> Qwen3MoeTensors(const ModelConfig& model) {
  return LlamaTensorsWithExperts(model, {"mlp.", "gate_proj", "up_proj", "down_proj"});
}

// transformers 5.17 writes num_local_experts; the published models have num_experts. If the two
// keys have different values, the config is rejected, because num_local_experts then remains as an
// unknown key.
void CompleteExperts(nlohmann::json& config) {
  if (!config.contains("num_local_experts")) return;
  const nlohmann::json count = config["num_local_experts"];
  if (config.value("num_experts", count) != count) return;
  config["num_experts"] = count;
  config.erase("num_local_experts");
}

// An absent key has the default of Qwen3MoeConfig in transformers. All layers must have experts, so
// intermediate_size, the width of dense layers, has no effect.
const ModelFamily kQwen3Moe = {
    .architecture = "Qwen3MoeForCausalLM",
    .model_type = "qwen3_moe",
    .prefix = "model.",
    .head = "lm_head.weight",
    .embedding = "model.embed_tokens.weight",
    .mapped = {{"num_hidden_layers", "num_layers"},
               {"hidden_size", "hidden_size"},
               {"intermediate_size", "ffn_hidden_size"},
               {"moe_intermediate_size", "moe_ffn_hidden_size", "768", {}, ExpertWidth},
               {"num_attention_heads", "num_attention_heads"},
               {"num_key_value_heads", "num_query_groups", "4"},
               {"head_dim", "kv_channels", "null", {}, HeadSize},
               {"vocab_size", "vocab_size"},
               {"num_experts", "num_experts", "128"},
               {"num_experts_per_tok", "moe_router_topk", "8"},
               {"norm_topk_prob", "moe_norm_topk_prob", "false"},
               {"rope_theta", "rotary_base", "10000.0"},
               {"rms_norm_eps", "norm_epsilon", "1e-6"},
               {"tie_word_embeddings",
                "untie_embeddings_and_output_weights",
                "false",
                {{"true", "false"}, {"false", "true"}}}},
    .fixed = {{"hidden_act", "\"silu\""},
              {"attention_bias", "false"},
              {"use_sliding_window", "false"},
              {"decoder_sparse_step", "1"},
              {"mlp_only_layers", "[]"},
              {"rope_scaling.rope_type", "\"default\""}},
    .settings = {{"qk_layernorm", "true"}},
    .lists = {{"layer_types", "\"full_attention\""}},
    .dropouts = {"attention_dropout"},
    .without_effect = {"router_aux_loss_coef", "output_router_logits", "sliding_window",
                       "max_window_layers"},
    .complete = CompleteExperts,
    .tensors = Qwen3MoeTensors,
};

}  // namespace

const ModelFamily& Qwen3MoeFamily() { return kQwen3Moe; }

}  // namespace trainyard::trainer
