// Tensor names that Trainyard shares with LLaMA's modelling code in transformers, for all families
// that use them.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_LAYOUT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_LAYOUT_H_

#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/checkpoint_tools/families/family_tensor.h"

namespace trainyard::trainer {

// Returns the tensors of a model that has no biases. Their names and shapes are the same on Hugging
// Face and in Trainyard. Pure.
std::vector<FamilyTensor> LlamaTensors(const ModelConfig& model);

// The names of a layer with experts on Hugging Face, after "model.layers.N.".
struct ExpertNames {
  const char* layer;  // Prefix of the others.
  const char* gate;
  const char* up;
  const char* down;
};

// Returns the tensors of LlamaTensors for a model whose layers all have experts.
std::vector<FamilyTensor> LlamaTensorsWithExperts(const ModelConfig& model,
                                                  const ExpertNames& names);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_LAYOUT_H_
