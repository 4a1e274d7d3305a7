// Reads run settings in JSON: a job's spec.json, or a file in the same format.
#ifndef TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_JSON_H_
#define TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_JSON_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "proto/contract/run_config.h"
#include "proto/model/settings_json.h"  // Declares the inverse of ParseRunConfig.

namespace trainyard::trainer {

// Parses the settings according to the rules in proto/contract/run_config.h. Skips the parts of a
// job that the trainer does not use. Throws TrainerError(kBadConfig) with the name of a key that is
// unknown or has a value of the wrong type.
RunConfig ParseRunConfig(const nlohmann::json& spec);

// Reads and parses a file. Throws TrainerError: kNoInput if the file cannot be read, kBadConfig if
// it is not JSON.
RunConfig LoadRunConfig(const std::string& path);

// Returns the job's stop_grace in seconds; infinity if the settings do not contain it. Throws the
// same errors as LoadRunConfig.
double LoadStopGraceSeconds(const std::string& path);

// Fills in derived settings and applies every rule of proto/rules/run_rules.h. `world_size` is the
// number of ranks in the gang. Throws TrainerError(kBadConfig) with a list of the broken rules, one
// per line.
void ResolveRunConfig(int64_t world_size, RunConfig& config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_JSON_H_
