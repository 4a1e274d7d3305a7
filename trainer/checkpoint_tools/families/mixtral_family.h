// Mixtral 8x7B, 8x22B and other models with the architecture MixtralForCausalLM.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_MIXTRAL_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_MIXTRAL_FAMILY_H_

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

const ModelFamily& MixtralFamily();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_MIXTRAL_FAMILY_H_
