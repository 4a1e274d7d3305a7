// Qwen3 models with experts in every layer: Qwen3MoeForCausalLM without sliding windows.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_QWEN3_MOE_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_QWEN3_MOE_FAMILY_H_

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

const ModelFamily& Qwen3MoeFamily();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_QWEN3_MOE_FAMILY_H_
