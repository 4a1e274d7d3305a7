// Keys for rotary positions. Different versions of transformers store these keys in different
// places. Pure functions.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_ROTARY_KEYS_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_ROTARY_KEYS_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

// Returns the config with all rotary keys at the top level. The family's own keys keep their names;
// the others are named "rope_scaling.KEY". Omits the type of scaling if it is "default".
//
// Version 5 of transformers stores all rotary keys in `rope_parameters`. Earlier versions store
// those for scaling in `rope_scaling` and others at the top level. Throws TrainerError kBadConfig
// if two places have different values for a key. `path` is the path of the file, for messages.
nlohmann::json WithFlatRotaryKeys(nlohmann::json config, const ModelFamily& family,
                                  const std::string& path);

// The inverse of WithFlatRotaryKeys. Writes the keys both where version 5 of transformers expects
// them and where earlier versions do.
nlohmann::json WithRotaryObjects(nlohmann::json config, const ModelFamily& family);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_ROTARY_KEYS_H_
