// Keys of rotary positions, which are in different places in different versions of transformers.
// Pure functions.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_ROTARY_KEYS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_ROTARY_KEYS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

// Returns the config with all rotary keys at the top level: the family's own keys by name, the
// others as "rope_scaling.KEY". Version 5 of transformers has all rotary keys in `rope_parameters`;
// earlier versions have some at the top level and the scaled ones in `rope_scaling`. Omits the type
// if it is "default". path: path of the file, for messages. Throws TrainerError kBadConfig if two
// places contradict each other.
nlohmann::json WithFlatRotaryKeys(nlohmann::json config, const ModelFamily& family,
                                  const std::string& path);

// Inverse of WithFlatRotaryKeys; writes the keys of both versions.
nlohmann::json WithRotaryObjects(nlohmann::json config, const ModelFamily& family);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_ROTARY_KEYS_H_
