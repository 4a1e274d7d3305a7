#include "trainer/checkpoint_tools/families/gpt_neox_family.h"

#include <string>

#include "proto/model/model_size.h"
#include "trainer/checkpoint_tools/families/head_settings.h"

namespace trainyard::trainer {
namespace {

// Adds the weight and the bias of one module.
void AddNeoxModule(const std::string& theirs, const std::string& ours, const Extents& shape,
                   std::vector<FamilyTensor>* tensors) {
  tensors->push_back(RenamedTensor(theirs + ".weight", {ours + ".weight", shape}));
  tensors->push_back(RenamedTensor(theirs + ".bias", {ours + ".bias", {shape[0]}}));
}

// Adds query_key_value. It contains, for each head in turn, the rows of its query, its key and its
// value.
void AddQueryKeyValue(const ModelConfig& model, const std::string& theirs, const std::string& ours,
                      std::vector<FamilyTensor>* tensors) {
  const int64_t hidden = model.hidden_size;
  std::vector<TensorShape> weights, biases;
  for (const std::string name : {"q_proj", "k_proj", "v_proj"}) {
    weights.push_back({ours + name + ".weight", {hidden, hidden}});
    biases.push_back({ours + name + ".bias", {hidden}});
  }
  const int64_t head = UsualHeadSize(model);
  tensors->push_back(FusedTensor(theirs + "query_key_value.weight", weights, head));
  tensors->push_back(FusedTensor(theirs + "query_key_value.bias", biases, head));
}

void AddNeoxLayer(const ModelConfig& model, int64_t layer, std::vector<FamilyTensor>* tensors) {
  const std::string theirs = "gpt_neox.layers." + std::to_string(layer) + ".";
  const std::string ours = "model.layers." + std::to_string(layer) + ".";
  const int64_t hidden = model.hidden_size, ffn = model.ffn_hidden_size;
  AddNeoxModule(theirs + "input_layernorm", ours + "input_layernorm", {hidden}, tensors);
  AddNeoxModule(theirs + "post_attention_layernorm", ours + "post_attention_layernorm", {hidden},
                tensors);
  AddQueryKeyValue(model, theirs + "attention.", ours + "self_attn.", tensors);
  AddNeoxModule(theirs + "attention.dense", ours + "self_attn.o_proj", {hidden, hidden}, tensors);
  AddNeoxModule(theirs + "mlp.dense_h_to_4h", ours + "mlp.up_proj", {ffn, hidden}, tensors);
  AddNeoxModule(theirs + "mlp.dense_4h_to_h", ours + "mlp.down_proj", {hidden, ffn}, tensors);
}

std::vector<FamilyTensor> GptNeoxTensors(const ModelConfig& model) {
  const Extents table = {model.vocab_size, model.hidden_size};
  std::vector<FamilyTensor> tensors = {
      RenamedTensor("gpt_neox.embed_in.weight", {"model.embed_tokens.weight", table})};
  for (int64_t i = 0; i < model.num_layers; ++i) AddNeoxLayer(model, i, &tensors);
  AddNeoxModule("gpt_neox.final_layer_norm", "model.norm", {model.hidden_size}, &tensors);
  if (model.untie_embeddings_and_output_weights) {
    tensors.push_back(RenamedTensor("embed_out.weight", {"lm_head.weight", table}));
  }
  return tensors;
}

// An absent key has the default of GPTNeoXConfig in transformers.
const ModelFamily kGptNeox = {
    .architecture = "GPTNeoXForCausalLM",
    .model_type = "gpt_neox",
    .prefix = "gpt_neox.",
    .head = "embed_out.weight",
    .embedding = "gpt_neox.embed_in.weight",
    .rotary_base_key = "rotary_emb_base",
    .rotary_part_key = "rotary_pct",
    .mapped = {{"num_hidden_layers", "num_layers"},
               {"hidden_size", "hidden_size"},
               {"intermediate_size", "ffn_hidden_size"},
               {"num_attention_heads", "num_attention_heads"},
               {"vocab_size", "vocab_size"},
               {"rotary_emb_base", "rotary_base", "10000.0"},
               {"rotary_pct", "rotary_percent", "0.25"},
               {"layer_norm_eps", "norm_epsilon", "1e-5"},
               {"use_parallel_residual", "parallel_residual", "true"},
               // gelu_fast, used by GPT-NeoX 20B, is another name of gelu_new.
               {"hidden_act",
                "activation",
                "\"gelu\"",
                {{"\"gelu\"", "\"gelu\""},
                 {"\"gelu_new\"", "\"gelu_tanh\""},
                 {"\"gelu_fast\"", "\"gelu_tanh\""},
                 {"\"gelu_pytorch_tanh\"", "\"gelu_tanh\""},
                 {"\"relu2\"", "\"squared_relu\""}}},
               {"tie_word_embeddings",
                "untie_embeddings_and_output_weights",
                "false",
                {{"true", "false"}, {"false", "true"}}}},
    .fixed = {{"attention_bias", "true"}, {"rope_scaling.rope_type", "\"default\""}},
    .settings = {{"normalization", "\"layer_norm\""}, {"add_bias_linear", "true"}},
    .derived_settings = {{"num_query_groups", KeyHeadForEach}, {"kv_channels", WholeHeadSize}},
    // The last two keys are former names of the first two. An export writes all four keys.
    .dropouts = {"attention_dropout", "hidden_dropout", "attention_probs_dropout_prob",
                 "hidden_dropout_prob"},
    // classifier_dropout belongs to another model head. is_decoder affects only caches.
    .without_effect = {"classifier_dropout", "is_decoder"},
    // Causal masks and rotary frequencies, which versions of transformers before 4.32 saved.
    .skipped_tensors = {".attention.bias", ".attention.masked_bias",
                        ".attention.rotary_emb.inv_freq"},
    .tensors = GptNeoxTensors,
};

}  // namespace

const ModelFamily& GptNeoxFamily() { return kGptNeox; }

}  // namespace trainyard::trainer
