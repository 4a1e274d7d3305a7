// The settings of a run as JSON: a job's spec.json, or a file of the same form.
#ifndef TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_JSON_H_
#define TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_JSON_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "proto/contract/run_config.h"
#include "proto/model/settings_json.h"  // Writes what ParseRunConfig reads.

namespace trainyard::trainer {

// Reads the settings by the rules of proto/contract/run_config.h. Throws TrainerError(kBadConfig)
// that names the key for an unknown or mistyped one. Parts of a job that are not the trainer's are
// skipped.
RunConfig ParseRunConfig(const nlohmann::json& spec);

// The same from a file. Throws TrainerError(kNoInput) when it cannot be read and kBadConfig when
// it is not JSON.
RunConfig LoadRunConfig(const std::string& path);

// The job's stop_grace in seconds, infinite when the settings do not have one. Throws like
// LoadRunConfig.
double LoadStopGraceSeconds(const std::string& path);

// Fills in what follows from other settings and applies every rule of proto/contract/run_rules.h.
// `world_size`: ranks of the gang. Throws TrainerError(kBadConfig) with each broken rule, one a
// line.
void ResolveRunConfig(int64_t world_size, RunConfig& config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_JSON_H_
