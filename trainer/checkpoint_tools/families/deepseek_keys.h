// Keys of DeepSeek's config.json that are not single settings. Pure functions.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_KEYS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_KEYS_H_

#include <nlohmann/json_fwd.hpp>

namespace trainyard::trainer {

// Sets the defaults of transformers for absent keys whose null has another meaning. Replaces
// n_shared_experts by the total width of the shared experts. Removes values that mean "none": a
// single group, and no dense layers.
void CompleteDeepSeekV2(nlohmann::json& config);
void CompleteDeepSeekV3(nlohmann::json& config);

// The inverse of both. Throws TrainerError kBadConfig if the model has no shared expert, or shared
// experts that are not a multiple of an expert, or positions that are not scaled by YaRN.
void FinishDeepSeek(nlohmann::json& config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_KEYS_H_
