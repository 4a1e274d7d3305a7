#include "trainer/checkpoint_tools/families/qwen2_family.h"

#include "proto/model/model_size.h"
#include "trainer/checkpoint_tools/families/llama_layout.h"

namespace trainyard::trainer {
namespace {

// An absent key has the default of Qwen2Config in transformers.
const ModelFamily kQwen2 = {
    .architecture = "Qwen2ForCausalLM",
    .model_type = "qwen2",
    .prefix = "model.",
    .head = "lm_head.weight",
    .embedding = "model.embed_tokens.weight",
    .mapped = {{"num_hidden_layers", "num_layers"},
               {"hidden_size", "hidden_size"},
               {"intermediate_size", "ffn_hidden_size"},
               {"num_attention_heads", "num_attention_heads"},
               {"num_key_value_heads", "num_query_groups", "32"},
               {"head_dim", "kv_channels", "null", {}, HeadSize},
               {"vocab_size", "vocab_size"},
               {"rope_theta", "rotary_base", "10000.0"},
               {"rms_norm_eps", "norm_epsilon", "1e-6"},
               {"tie_word_embeddings",
                "untie_embeddings_and_output_weights",
                "false",
                {{"true", "false"}, {"false", "true"}}}},
    .fixed = {{"hidden_act", "\"silu\""},
              {"use_sliding_window", "false"},
              {"rope_scaling.rope_type", "\"default\""}},
    .settings = {{"add_qkv_bias", "true"}},
    // Language models of Qwen2.5 have use_mrope, which only models of images use.
    .lists = {{"layer_types", "\"full_attention\""}, {"use_mrope", "false"}},
    .dropouts = {"attention_dropout"},
    // Keys for sliding windows. They have no effect, because use_sliding_window must be false.
    .without_effect = {"sliding_window", "max_window_layers"},
    .tensors = LlamaTensors,
};

}  // namespace

const ModelFamily& Qwen2Family() { return kQwen2; }

}  // namespace trainyard::trainer
