#include "trainer/checkpoint_tools/families/gpt2_family.h"

#include <nlohmann/json.hpp>
#include <string>

#include "trainer/checkpoint_tools/families/head_settings.h"

namespace trainyard::trainer {
namespace {

// Adds the weight and the bias of a norm, or of another module whose tensors have the suffixes
// .weight and .bias.
void AddGpt2Norm(const std::string& theirs, const std::string& ours, int64_t hidden,
                 std::vector<FamilyTensor>* tensors) {
  for (const std::string end : {".weight", ".bias"}) {
    tensors->push_back(RenamedTensor(theirs + end, {ours + end, {hidden}}));
  }
}

// Adds a Conv1D layer, which has a matrix [in, out]. The parts `ours` of the matrix have equal
// sizes and are placed side by side.
void AddConv1D(const std::string& theirs, const std::vector<std::string>& ours,
               const Extents& shape, std::vector<FamilyTensor>* tensors) {
  std::vector<TensorShape> weights, biases;
  for (const std::string& name : ours) {
    weights.push_back({name + ".weight", shape});
    biases.push_back({name + ".bias", {shape[0]}});
  }
  tensors->push_back(TransposedTensor(theirs + ".weight", weights));
  tensors->push_back(FusedTensor(theirs + ".bias", biases, shape[0]));
}

void AddGpt2Layer(const ModelConfig& model, int64_t layer, std::vector<FamilyTensor>* tensors) {
  const std::string theirs = "transformer.h." + std::to_string(layer) + ".";
  const std::string ours = "model.layers." + std::to_string(layer) + ".";
  const std::string attention = ours + "self_attn.";
  const int64_t hidden = model.hidden_size, ffn = model.ffn_hidden_size;
  AddGpt2Norm(theirs + "ln_1", ours + "input_layernorm", hidden, tensors);
  AddConv1D(theirs + "attn.c_attn",
            {attention + "q_proj", attention + "k_proj", attention + "v_proj"}, {hidden, hidden},
            tensors);
  AddConv1D(theirs + "attn.c_proj", {attention + "o_proj"}, {hidden, hidden}, tensors);
  AddGpt2Norm(theirs + "ln_2", ours + "post_attention_layernorm", hidden, tensors);
  AddConv1D(theirs + "mlp.c_fc", {ours + "mlp.up_proj"}, {ffn, hidden}, tensors);
  AddConv1D(theirs + "mlp.c_proj", {ours + "mlp.down_proj"}, {hidden, ffn}, tensors);
}

std::vector<FamilyTensor> Gpt2Tensors(const ModelConfig& model) {
  const int64_t hidden = model.hidden_size;
  const Extents table = {model.vocab_size, hidden};
  std::vector<FamilyTensor> tensors = {
      RenamedTensor("transformer.wte.weight", {"model.embed_tokens.weight", table}),
      RenamedTensor("transformer.wpe.weight",
                    {"model.embed_positions.weight", {model.max_position_embeddings, hidden}})};
  for (int64_t i = 0; i < model.num_layers; ++i) AddGpt2Layer(model, i, &tensors);
  AddGpt2Norm("transformer.ln_f", "model.norm", hidden, &tensors);
  if (model.untie_embeddings_and_output_weights) {
    tensors.push_back(SameTensor("lm_head.weight", table));
  }
  return tensors;
}

void CompleteFfnSize(nlohmann::json& config) {
  constexpr int64_t kTimesHidden = 4;
  const nlohmann::json hidden = config.value("n_embd", nlohmann::json());
  if (!config.value("n_inner", nlohmann::json()).is_null() || !hidden.is_number_integer()) return;
  config["n_inner"] = kTimesHidden * hidden.get<int64_t>();
}

// An absent key has the default of GPT2Config in transformers.
const ModelFamily kGpt2 = {
    .architecture = "GPT2LMHeadModel",
    .model_type = "gpt2",
    .prefix = "transformer.",
    .head = "lm_head.weight",
    .embedding = "transformer.wte.weight",
    .mapped = {{"n_layer", "num_layers", "12"},
               {"n_embd", "hidden_size", "768"},
               {"n_inner", "ffn_hidden_size", "3072"},
               {"n_head", "num_attention_heads", "12"},
               {"n_positions", "max_position_embeddings", "1024"},
               {"vocab_size", "vocab_size", "50257"},
               {"layer_norm_epsilon", "norm_epsilon", "1e-5"},
               // gelu_fast and gelu_pytorch_tanh are other names of gelu_new.
               {"activation_function",
                "activation",
                "\"gelu_new\"",
                {{"\"gelu_new\"", "\"gelu_tanh\""},
                 {"\"gelu_pytorch_tanh\"", "\"gelu_tanh\""},
                 {"\"gelu_fast\"", "\"gelu_tanh\""},
                 {"\"gelu\"", "\"gelu\""},
                 {"\"relu2\"", "\"squared_relu\""}}},
               {"tie_word_embeddings",
                "untie_embeddings_and_output_weights",
                "true",
                {{"true", "false"}, {"false", "true"}}}},
    .fixed = {{"scale_attn_weights", "true"},
              {"scale_attn_by_inverse_layer_idx", "false"},
              {"add_cross_attention", "false"}},
    .settings = {{"normalization", "\"layer_norm\""},
                 {"add_bias_linear", "true"},
                 {"position_embedding_type", "\"learned_absolute\""}},
    .derived_settings = {{"num_query_groups", KeyHeadForEach}, {"kv_channels", WholeHeadSize}},
    .dropouts = {"attn_pdrop", "embd_pdrop", "resid_pdrop"},
    // n_ctx is an unused former name of n_positions. The summary_* keys belong to other model
    // heads. reorder_and_upcast_attn changes only the order of operations.
    .without_effect = {"n_ctx", "reorder_and_upcast_attn", "summary_activation",
                       "summary_first_dropout", "summary_proj_to_labels", "summary_type",
                       "summary_use_proj", "task_specific_params"},
    // Causal masks, which versions of transformers before 4.30 saved.
    .skipped_tensors = {".attn.bias", ".attn.masked_bias"},
    .complete = CompleteFfnSize,
    .tensors = Gpt2Tensors,
};

}  // namespace

const ModelFamily& Gpt2Family() { return kGpt2; }

}  // namespace trainyard::trainer
