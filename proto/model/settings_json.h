// Converts the settings of a run to JSON.
#ifndef TRAINYARD_PROTO_MODEL_SETTINGS_JSON_H_
#define TRAINYARD_PROTO_MODEL_SETTINGS_JSON_H_

#include <nlohmann/json_fwd.hpp>

#include "proto/contract/run_config.h"

namespace trainyard {

// Returns every section of a job file, without settings that are not set.
nlohmann::json RunConfigToJson(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_SETTINGS_JSON_H_
