// Tensor names that LLaMA's modelling code and Trainyard share, in every family.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_LAYOUT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_LAYOUT_H_

#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/checkpoint_tools/families/family_tensor.h"

namespace trainyard::trainer {

// Tensors of a model without biases that are the same on Hugging Face and in Trainyard. Pure.
std::vector<FamilyTensor> LlamaTensors(const ModelConfig& model);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_LAYOUT_H_
