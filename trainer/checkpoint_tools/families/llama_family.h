// LLaMA 1 to 3.3 and other models with the architecture LlamaForCausalLM.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_FAMILY_H_

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

const ModelFamily& LlamaFamily();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_LLAMA_FAMILY_H_
