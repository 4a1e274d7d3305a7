#include "trainer/checkpoint_tools/families/qwen3_family.h"

#include "proto/model/model_size.h"
#include "trainer/checkpoint_tools/families/llama_layout.h"

namespace trainyard::trainer {
namespace {

// An absent key has the default of Qwen3Config in transformers.
const ModelFamily kQwen3 = {
    .architecture = "Qwen3ForCausalLM",
    .model_type = "qwen3",
    .prefix = "model.",
    .head = "lm_head.weight",
    .embedding = "model.embed_tokens.weight",
    .mapped = {{"num_hidden_layers", "num_layers"},
               {"hidden_size", "hidden_size"},
               {"intermediate_size", "ffn_hidden_size"},
               {"num_attention_heads", "num_attention_heads"},
               {"num_key_value_heads", "num_query_groups", "32"},
               {"head_dim", "kv_channels", "128", {}, HeadSize},
               {"vocab_size", "vocab_size"},
               {"rope_theta", "rotary_base", "10000.0"},
               {"rms_norm_eps", "norm_epsilon", "1e-6"},
               {"tie_word_embeddings",
                "untie_embeddings_and_output_weights",
                "false",
                {{"true", "false"}, {"false", "true"}}}},
    .fixed = {{"hidden_act", "\"silu\""},
              {"attention_bias", "false"},
              {"use_sliding_window", "false"},
              {"rope_scaling.rope_type", "\"default\""}},
    .settings = {{"qk_layernorm", "true"}},
    .lists = {{"layer_types", "\"full_attention\""}},
    .dropouts = {"attention_dropout"},
    // Keys for sliding windows. They have no effect, because use_sliding_window must be false.
    .without_effect = {"sliding_window", "max_window_layers"},
    .tensors = LlamaTensors,
};

}  // namespace

const ModelFamily& Qwen3Family() { return kQwen3; }

}  // namespace trainyard::trainer
