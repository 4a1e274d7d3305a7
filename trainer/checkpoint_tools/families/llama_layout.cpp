#include "trainer/checkpoint_tools/families/llama_layout.h"

#include <functional>
#include <string>

#include "proto/model/model_size.h"

namespace trainyard::trainer {
namespace {

void AddAttention(const ModelConfig& model, const std::string& attention,
                  std::vector<FamilyTensor>* tensors) {
  const int64_t hidden = model.hidden_size, head = HeadSize(model);
  const int64_t queries = model.num_attention_heads * head, keys = model.num_query_groups * head;
  tensors->push_back(SameTensor(attention + "q_proj.weight", {queries, hidden}));
  tensors->push_back(SameTensor(attention + "k_proj.weight", {keys, hidden}));
  tensors->push_back(SameTensor(attention + "v_proj.weight", {keys, hidden}));
  if (model.qk_layernorm) {
    tensors->push_back(SameTensor(attention + "q_norm.weight", {head}));
    tensors->push_back(SameTensor(attention + "k_norm.weight", {head}));
  }
  tensors->push_back(SameTensor(attention + "o_proj.weight", {hidden, queries}));
}

void AddNorm(const ModelConfig& model, const std::string& norm,
             std::vector<FamilyTensor>* tensors) {
  if (model.norm_weights) tensors->push_back(SameTensor(norm + ".weight", {model.hidden_size}));
}

using AddFeedForward =
    std::function<void(const std::string& layer, std::vector<FamilyTensor>* tensors)>;

void AddMlp(const ModelConfig& model, const std::string& layer,
            std::vector<FamilyTensor>* tensors) {
  const int64_t hidden = model.hidden_size, ffn = model.ffn_hidden_size;
  tensors->push_back(SameTensor(layer + "mlp.gate_proj.weight", {ffn, hidden}));
  tensors->push_back(SameTensor(layer + "mlp.up_proj.weight", {ffn, hidden}));
  tensors->push_back(SameTensor(layer + "mlp.down_proj.weight", {hidden, ffn}));
}

void AddExperts(const ModelConfig& model, const ExpertNames& names, const std::string& layer,
                std::vector<FamilyTensor>* tensors) {
  const int64_t hidden = model.hidden_size, width = ExpertWidth(model);
  const std::string theirs = layer + names.layer, ours = layer + "mlp.";
  tensors->push_back(
      RenamedTensor(theirs + "gate.weight", {ours + "gate.weight", {model.num_experts, hidden}}));
  for (int64_t i = 0; i < model.num_experts; ++i) {
    const std::string expert = "experts." + std::to_string(i) + ".";
    const auto add = [&](const char* their_name, const char* our_name, const Extents& shape) {
      tensors->push_back(RenamedTensor(theirs + expert + their_name + ".weight",
                                       {ours + expert + our_name + ".weight", shape}));
    };
    add(names.gate, "gate_proj", {width, hidden});
    add(names.up, "up_proj", {width, hidden});
    add(names.down, "down_proj", {hidden, width});
  }
}

void AddLayer(const ModelConfig& model, const std::string& layer,
              const AddFeedForward& add_feed_forward, std::vector<FamilyTensor>* tensors) {
  AddNorm(model, layer + "input_layernorm", tensors);
  AddAttention(model, layer + "self_attn.", tensors);
  AddNorm(model, layer + "post_attention_layernorm", tensors);
  add_feed_forward(layer, tensors);
}

std::vector<FamilyTensor> TensorsWith(const ModelConfig& model,
                                      const AddFeedForward& add_feed_forward) {
  const Extents table = {model.vocab_size, model.hidden_size};
  std::vector<FamilyTensor> tensors = {SameTensor("model.embed_tokens.weight", table)};
  for (int64_t i = 0; i < model.num_layers; ++i) {
    AddLayer(model, "model.layers." + std::to_string(i) + ".", add_feed_forward, &tensors);
  }
  AddNorm(model, "model.norm", &tensors);
  if (model.untie_embeddings_and_output_weights) {
    tensors.push_back(SameTensor("lm_head.weight", table));
  }
  return tensors;
}

}  // namespace

std::vector<FamilyTensor> LlamaTensors(const ModelConfig& model) {
  return TensorsWith(model, [&](const std::string& layer, std::vector<FamilyTensor>* tensors) {
    AddMlp(model, layer, tensors);
  });
}

std::vector<FamilyTensor> LlamaTensorsWithExperts(const ModelConfig& model,
                                                  const ExpertNames& names) {
  return TensorsWith(model, [&](const std::string& layer, std::vector<FamilyTensor>* tensors) {
    AddExperts(model, names, layer, tensors);
  });
}

}  // namespace trainyard::trainer
