#include "trainer/checkpoint_tools/families/mixtral_family.h"

#include "proto/model/model_size.h"
#include "trainer/checkpoint_tools/families/llama_layout.h"

namespace trainyard::trainer {
namespace {

std::vector<FamilyTensor> MixtralTensors(const ModelConfig& model) {
  return LlamaTensorsWithExperts(model, {"block_sparse_moe.", "w1", "w3", "w2"});
}

int64_t WidthOfExperts(const ModelConfig& model) { return model.ffn_hidden_size; }

// An absent key has the default of MixtralConfig in transformers. The weight of the loss that
// balances experts (router_aux_loss_coef) is a setting of a training run: transformers adds this
// loss only on request, and computes it over all layers together.
const ModelFamily kMixtral = {
    .architecture = "MixtralForCausalLM",
    .model_type = "mixtral",
    .prefix = "model.",
    .head = "lm_head.weight",
    .embedding = "model.embed_tokens.weight",
    .mapped = {{"num_hidden_layers", "num_layers"},
               {"hidden_size", "hidden_size"},
               {"intermediate_size", "ffn_hidden_size"},
               {"num_attention_heads", "num_attention_heads"},
               {"num_key_value_heads", "num_query_groups", "8"},
               {"head_dim", "kv_channels", "null", {}, HeadSize},
               {"vocab_size", "vocab_size"},
               {"num_local_experts", "num_experts", "8"},
               {"num_experts_per_tok", "moe_router_topk", "2"},
               {"rope_theta", "rotary_base", "1000000.0"},
               {"rms_norm_eps", "norm_epsilon", "1e-5"},
               {"tie_word_embeddings",
                "untie_embeddings_and_output_weights",
                "false",
                {{"true", "false"}, {"false", "true"}}}},
    .fixed = {{"hidden_act", "\"silu\""},
              {"sliding_window", "null"},
              {"rope_scaling.rope_type", "\"default\""}},
    .derived_settings = {{"moe_ffn_hidden_size", WidthOfExperts}},
    .dropouts = {"attention_dropout", "router_jitter_noise"},
    .without_effect = {"router_aux_loss_coef", "output_router_logits"},
    .tensors = MixtralTensors,
};

}  // namespace

const ModelFamily& MixtralFamily() { return kMixtral; }

}  // namespace trainyard::trainer
