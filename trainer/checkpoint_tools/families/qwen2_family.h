// Dense Qwen2 and Qwen2.5 models: Qwen2ForCausalLM without sliding windows.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_QWEN2_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_QWEN2_FAMILY_H_

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

const ModelFamily& Qwen2Family();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_QWEN2_FAMILY_H_
