// GPT-NeoX and Pythia: GPTNeoXForCausalLM.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_GPT_NEOX_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_GPT_NEOX_FAMILY_H_

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

const ModelFamily& GptNeoxFamily();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_GPT_NEOX_FAMILY_H_
