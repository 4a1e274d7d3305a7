#include "trainer/checkpoint_tools/families/olmo_family.h"

#include "trainer/checkpoint_tools/families/head_settings.h"
#include "trainer/checkpoint_tools/families/llama_layout.h"

namespace trainyard::trainer {
namespace {

// An absent key has the default of OlmoConfig in transformers. OLMo's norms have no weights and a
// fixed epsilon.
const ModelFamily kOlmo = {
    .architecture = "OlmoForCausalLM",
    .model_type = "olmo",
    .prefix = "model.",
    .head = "lm_head.weight",
    .embedding = "model.embed_tokens.weight",
    .mapped = {{"num_hidden_layers", "num_layers"},
               {"hidden_size", "hidden_size"},
               {"intermediate_size", "ffn_hidden_size"},
               {"num_attention_heads", "num_attention_heads"},
               {"num_key_value_heads", "num_query_groups", "null"},
               {"vocab_size", "vocab_size"},
               {"rope_theta", "rotary_base", "10000.0"},
               {"tie_word_embeddings",
                "untie_embeddings_and_output_weights",
                "false",
                {{"true", "false"}, {"false", "true"}}}},
    .fixed = {{"hidden_act", "\"silu\""},
              {"attention_bias", "false"},
              {"clip_qkv", "null"},
              {"rope_scaling.rope_type", "\"default\""}},
    .settings = {{"normalization", "\"layer_norm\""},
                 {"norm_weights", "false"},
                 {"norm_epsilon", "1e-5"}},
    .derived_settings = {{"kv_channels", WholeHeadSize}},
    .dropouts = {"attention_dropout"},
    .tensors = LlamaTensors,
};

}  // namespace

const ModelFamily& OlmoFamily() { return kOlmo; }

}  // namespace trainyard::trainer
