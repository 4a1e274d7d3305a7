#include "trainer/checkpoint_tools/families/llama_layout.h"

#include <string>

#include "proto/model/model_size.h"

namespace trainyard::trainer {
namespace {

void AddAttention(const ModelConfig& model, const std::string& attention,
                  std::vector<FamilyTensor>* tensors) {
  const int64_t hidden = model.hidden_size, head = HeadSize(model);
  const int64_t queries = model.num_attention_heads * head, keys = model.num_query_groups * head;
  const auto add_projection = [&](const char* name, int64_t rows) {
    tensors->push_back(SameTensor(attention + name + ".weight", {rows, hidden}));
    if (model.add_qkv_bias) tensors->push_back(SameTensor(attention + name + ".bias", {rows}));
  };
  add_projection("q_proj", queries);
  add_projection("k_proj", keys);
  add_projection("v_proj", keys);
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

}  // namespace

void AddMlpTensors(const std::string& name, int64_t hidden, int64_t width,
                   std::vector<FamilyTensor>* tensors) {
  tensors->push_back(SameTensor(name + "gate_proj.weight", {width, hidden}));
  tensors->push_back(SameTensor(name + "up_proj.weight", {width, hidden}));
  tensors->push_back(SameTensor(name + "down_proj.weight", {hidden, width}));
}

void AddExpertTensors(const ModelConfig& model, const ExpertNames& names, const std::string& layer,
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

std::vector<FamilyTensor> TensorsOfLayers(const ModelConfig& model, const AddToLayer& add_attention,
                                          const AddToLayer& add_feed_forward) {
  const Extents table = {model.vocab_size, model.hidden_size};
  std::vector<FamilyTensor> tensors = {SameTensor("model.embed_tokens.weight", table)};
  for (int64_t i = 0; i < model.num_layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    AddNorm(model, layer + "input_layernorm", &tensors);
    add_attention(i, layer, &tensors);
    AddNorm(model, layer + "post_attention_layernorm", &tensors);
    add_feed_forward(i, layer, &tensors);
  }
  AddNorm(model, "model.norm", &tensors);
  if (model.untie_embeddings_and_output_weights) {
    tensors.push_back(SameTensor("lm_head.weight", table));
  }
  return tensors;
}

namespace {

std::vector<FamilyTensor> WithPlainAttention(const ModelConfig& model,
                                             const AddToLayer& add_feed_forward) {
  return TensorsOfLayers(
      model,
      [&](int64_t, const std::string& layer, std::vector<FamilyTensor>* tensors) {
        AddAttention(model, layer + "self_attn.", tensors);
      },
      add_feed_forward);
}

}  // namespace

std::vector<FamilyTensor> LlamaTensors(const ModelConfig& model) {
  return WithPlainAttention(
      model, [&](int64_t, const std::string& layer, std::vector<FamilyTensor>* tensors) {
        AddMlpTensors(layer + "mlp.", model.hidden_size, model.ffn_hidden_size, tensors);
      });
}

std::vector<FamilyTensor> LlamaTensorsWithExperts(const ModelConfig& model,
                                                  const ExpertNames& names) {
  return WithPlainAttention(
      model, [&](int64_t, const std::string& layer, std::vector<FamilyTensor>* tensors) {
        AddExpertTensors(model, names, layer, tensors);
      });
}

}  // namespace trainyard::trainer
