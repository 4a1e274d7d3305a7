#include "trainer/checkpoint_tools/families/mistral_family.h"

#include <nlohmann/json.hpp>

#include "proto/model/model_size.h"
#include "trainer/checkpoint_tools/families/llama_layout.h"

namespace trainyard::trainer {
namespace {

constexpr char kWindow[] = "sliding_window";

// The default of MistralConfig in transformers applies only to an absent key. A null disables the
// window.
void CompleteWindow(nlohmann::json& config) {
  constexpr int kUsualWindow = 4096;
  if (!config.contains(kWindow)) config[kWindow] = kUsualWindow;
}

int64_t NoWindow(const ModelConfig& /*model*/) { return 0; }

void FinishWindow(nlohmann::json& config) {
  if (config[kWindow] == 0) config[kWindow] = nullptr;
}

// An absent key has the default of MistralConfig in transformers. Both programs count the token
// itself as part of its window.
const ModelFamily kMistral = {
    .architecture = "MistralForCausalLM",
    .model_type = "mistral",
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
               {"rope_theta", "rotary_base", "10000.0"},
               {"rms_norm_eps", "norm_epsilon", "1e-6"},
               {kWindow, "window_size", "null", {}, NoWindow},
               {"tie_word_embeddings",
                "untie_embeddings_and_output_weights",
                "false",
                {{"true", "false"}, {"false", "true"}}}},
    .fixed = {{"hidden_act", "\"silu\""}, {"rope_scaling.rope_type", "\"default\""}},
    .dropouts = {"attention_dropout"},
    .complete = CompleteWindow,
    .finish = FinishWindow,
    .tensors = LlamaTensors,
};

}  // namespace

const ModelFamily& MistralFamily() { return kMistral; }

}  // namespace trainyard::trainer
