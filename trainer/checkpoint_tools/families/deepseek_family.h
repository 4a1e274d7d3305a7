// DeepSeek models with latent attention: DeepseekV2ForCausalLM with greedy routing
// (DeepSeek-V2-Lite), and DeepseekV3ForCausalLM.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_FAMILY_H_

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

const ModelFamily& DeepSeekV2Family();
const ModelFamily& DeepSeekV3Family();

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_FAMILY_H_
