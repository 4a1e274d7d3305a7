// The dense Mistral models, with and without a sliding window: MistralForCausalLM.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_MISTRAL_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_MISTRAL_FAMILY_H_

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

const ModelFamily& MistralFamily();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_MISTRAL_FAMILY_H_
