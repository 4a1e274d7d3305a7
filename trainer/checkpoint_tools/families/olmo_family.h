// OLMo 1, such as OLMo 7B: OlmoForCausalLM without clipping of queries, keys and values.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_OLMO_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_OLMO_FAMILY_H_

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

const ModelFamily& OlmoFamily();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_OLMO_FAMILY_H_
