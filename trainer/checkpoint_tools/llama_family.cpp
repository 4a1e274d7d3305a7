#include "trainer/checkpoint_tools/llama_family.h"

#include "proto/contract/run_rules.h"

namespace trainyard::trainer {
namespace {

void AddLayer(const ModelConfig& model, const std::string& layer,
              std::vector<TensorShape>* tensors) {
  const int64_t hidden = model.hidden_size, ffn = model.ffn_hidden_size;
  const int64_t queries = model.num_attention_heads * HeadSize(model);
  const int64_t keys = model.num_query_groups * HeadSize(model);
  tensors->insert(tensors->end(), {{layer + "input_layernorm.weight", {hidden}},
                                   {layer + "self_attn.q_proj.weight", {queries, hidden}},
                                   {layer + "self_attn.k_proj.weight", {keys, hidden}},
                                   {layer + "self_attn.v_proj.weight", {keys, hidden}},
                                   {layer + "self_attn.o_proj.weight", {hidden, queries}},
                                   {layer + "post_attention_layernorm.weight", {hidden}},
                                   {layer + "mlp.gate_proj.weight", {ffn, hidden}},
                                   {layer + "mlp.up_proj.weight", {ffn, hidden}},
                                   {layer + "mlp.down_proj.weight", {hidden, ffn}}});
}

std::vector<TensorShape> LlamaTensors(const ModelConfig& model) {
  const int64_t hidden = model.hidden_size, vocabulary = model.vocab_size;
  std::vector<TensorShape> tensors = {{"model.embed_tokens.weight", {vocabulary, hidden}}};
  for (int64_t i = 0; i < model.num_layers; ++i) {
    AddLayer(model, "model.layers." + std::to_string(i) + ".", &tensors);
  }
  tensors.push_back({"model.norm.weight", {hidden}});
  if (model.untie_embeddings_and_output_weights) {
    tensors.push_back({"lm_head.weight", {vocabulary, hidden}});
  }
  return tensors;
}

// Values for absent keys: LlamaConfig of transformers.
const ModelFamily kLlama = {
    .architecture = "LlamaForCausalLM",
    .model_type = "llama",
    .mapped = {{"num_hidden_layers", "num_layers"},
               {"hidden_size", "hidden_size"},
               {"intermediate_size", "ffn_hidden_size"},
               {"num_attention_heads", "num_attention_heads"},
               {"num_key_value_heads", "num_query_groups", "null"},
               {"vocab_size", "vocab_size"},
               {"rope_theta", "rotary_base", "10000.0"},
               {"rms_norm_eps", "norm_epsilon", "1e-6"},
               {"tie_word_embeddings", "untie_embeddings_and_output_weights", "false", true}},
    .fixed = {{"hidden_act", "\"silu\""},
              {"attention_bias", "false"},
              {"attention_dropout", "0.0"},
              {"mlp_bias", "false"},
              {"rope_scaling", "null"}},
    .derived = {{"head_dim", HeadSize}},
    .settings = {},
    // pretraining_tp cuts products into sums of parts, with the same result.
    .without_effect = {"pretraining_tp"},
    // Rotary frequencies, which versions of transformers before 4.32 saved.
    .skipped_tensors = {".self_attn.rotary_emb.inv_freq"},
    .tensors = LlamaTensors,
};

}  // namespace

const ModelFamily& LlamaFamily() { return kLlama; }

}  // namespace trainyard::trainer
