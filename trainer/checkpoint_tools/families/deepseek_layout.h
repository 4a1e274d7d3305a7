// Tensor names of DeepSeek's models with latent attention. Trainyard uses the same names.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_LAYOUT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_LAYOUT_H_

#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/checkpoint_tools/families/family_tensor.h"

namespace trainyard::trainer {

// Returns the tensors of the model. Those of routers include the expert bias if the model has one.
// Pure.
std::vector<FamilyTensor> DeepSeekTensors(const ModelConfig& model);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_LAYOUT_H_
