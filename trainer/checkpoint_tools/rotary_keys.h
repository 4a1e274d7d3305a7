// Keys of rotary positions, which versions of transformers write in different places. Pure.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_ROTARY_KEYS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_ROTARY_KEYS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trainer/checkpoint_tools/model_family.h"

namespace trainyard::trainer {

// Version 5 has all of them in `rope_parameters`; before that some were at the top and the scaled
// ones in `rope_scaling`. Returns the config with the family's own keys at the top and with
// "rope_scaling.KEY" for the others; without a type when it is "default". `path`: of the file, for
// messages. Throws TrainerError kBadConfig when two places contradict each other.
nlohmann::json WithFlatRotaryKeys(nlohmann::json config, const ModelFamily& family,
                                  const std::string& path);

// The other way round, with the keys of either version.
nlohmann::json WithRotaryObjects(nlohmann::json config, const ModelFamily& family);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_ROTARY_KEYS_H_
