// Tensor names of LLaMA's modeling code in transformers. Trainyard and several families use these
// names.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_LAYOUT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/checkpoint_tools/families/family_tensor.h"

namespace trainyard::trainer {

// Returns the tensors of a model whose only biases are those of model.add_qkv_bias. Their names and
// shapes are the same on Hugging Face and in Trainyard. Pure.
std::vector<FamilyTensor> LlamaTensors(const ModelConfig& model);

// The Hugging Face names of the tensors of a layer with experts, after "model.layers.N.".
struct ExpertNames {
  const char* layer;  // Prefix of the others.
  const char* gate;
  const char* up;
  const char* down;
};

// Adds the tensors of one half of a layer. `prefix` is "model.layers.N.".
using AddToLayer = std::function<void(int64_t layer, const std::string& prefix,
                                      std::vector<FamilyTensor>* tensors)>;

// Returns the tensors of a model with these layers, including its embedding, norms and head.
std::vector<FamilyTensor> TensorsOfLayers(const ModelConfig& model, const AddToLayer& add_attention,
                                          const AddToLayer& add_feed_forward);

// Adds the matrices of a feed-forward layer with a gate. `name` is the prefix of the three.
void AddMlpTensors(const std::string& name, int64_t hidden, int64_t width,
                   std::vector<FamilyTensor>* tensors);

// Adds the tensors of a router and its experts.
void AddExpertTensors(const ModelConfig& model, const ExpertNames& names, const std::string& layer,
                      std::vector<FamilyTensor>* tensors);

// Returns the tensors of LlamaTensors for a model whose layers all have experts.
std::vector<FamilyTensor> LlamaTensorsWithExperts(const ModelConfig& model,
                                                  const ExpertNames& names);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_LAYOUT_H_
