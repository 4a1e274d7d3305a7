// Converts keys of DeepSeek's config.json that do not each correspond to one setting. Pure
// functions.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_KEYS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_KEYS_H_

#include <nlohmann/json_fwd.hpp>

namespace trainyard::trainer {

// For some keys, null does not mean the default. If such a key is absent, sets it to its default in
// transformers. Replaces n_shared_experts by the total width of the shared experts. Removes values
// that mean "none": a single group, and no dense layers.
void CompleteDeepSeekV2(nlohmann::json& config);
void CompleteDeepSeekV3(nlohmann::json& config);

// The inverse of both functions. Throws TrainerError kBadConfig if the model has no shared expert,
// if the width of its shared experts is not a multiple of an expert's width, or if its positions
// are scaled by a method other than YaRN.
void FinishDeepSeek(nlohmann::json& config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_DEEPSEEK_KEYS_H_
