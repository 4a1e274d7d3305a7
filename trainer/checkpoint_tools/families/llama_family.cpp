#include "trainer/checkpoint_tools/families/llama_family.h"

#include "proto/model/model_size.h"
#include "trainer/checkpoint_tools/families/llama_layout.h"

namespace trainyard::trainer {
namespace {

// An absent key has the default of LlamaConfig in transformers. If positions are scaled, all keys
// for scaling are required; the defaults given here are for a model without scaling.
const ModelFamily kLlama = {
    .architecture = "LlamaForCausalLM",
    .model_type = "llama",
    .prefix = "model.",
    .head = "lm_head.weight",
    .embedding = "model.embed_tokens.weight",
    .mapped = {{"num_hidden_layers", "num_layers"},
               {"hidden_size", "hidden_size"},
               {"intermediate_size", "ffn_hidden_size"},
               {"num_attention_heads", "num_attention_heads"},
               {"num_key_value_heads", "num_query_groups", "null"},
               {"head_dim", "kv_channels", "null", {}, HeadSize},
               {"vocab_size", "vocab_size"},
               {"rope_theta", "rotary_base", "10000.0"},
               {"rope_scaling.factor", "rope_scaling_factor", "null"},
               {"rope_scaling.low_freq_factor", "rope_low_freq_factor", "null"},
               {"rope_scaling.high_freq_factor", "rope_high_freq_factor", "null"},
               {"rope_scaling.original_max_position_embeddings", "rope_original_length", "null"},
               {"rms_norm_eps", "norm_epsilon", "1e-6"},
               {"tie_word_embeddings",
                "untie_embeddings_and_output_weights",
                "false",
                {{"true", "false"}, {"false", "true"}}}},
    .fixed = {{"hidden_act", "\"silu\""},
              {"attention_bias", "false"},
              {"mlp_bias", "false"},
              {"rope_scaling.rope_type", "\"llama3\""}},
    .lists = {{"rope_interleaved", "false"}},
    .dropouts = {"attention_dropout"},
    // pretraining_tp splits matrix products into partial sums. The result is the same. SmolLM2 has
    // the other keys, for other programs.
    .without_effect = {"pretraining_tp", "is_llama_config", "transformers.js_config"},
    // Rotary frequencies, which versions of transformers before 4.32 saved.
    .skipped_tensors = {".self_attn.rotary_emb.inv_freq"},
    .tensors = LlamaTensors,
};

}  // namespace

const ModelFamily& LlamaFamily() { return kLlama; }

}  // namespace trainyard::trainer
