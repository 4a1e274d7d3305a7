// GPT-2 and other models with the architecture GPT2LMHeadModel.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_GPT2_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_GPT2_FAMILY_H_

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

const ModelFamily& Gpt2Family();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_GPT2_FAMILY_H_
