// Run settings as JSON: a job's spec.json, or a file of the same format.
#ifndef TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_JSON_H_
#define TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_JSON_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "proto/contract/run_config.h"
#include "proto/model/settings_json.h"  // Declares the inverse of ParseRunConfig.

namespace trainyard::trainer {

// Parses the settings by the rules of proto/contract/run_config.h. Throws TrainerError(kBadConfig)
// naming an unknown or mistyped key. Skips the parts of a job that do not concern the trainer.
RunConfig ParseRunConfig(const nlohmann::json& spec);

// Reads and parses a file. Throws TrainerError(kNoInput) if it cannot be read and kBadConfig if it
// is not JSON.
RunConfig LoadRunConfig(const std::string& path);

// The job's stop_grace in seconds; infinity if the settings have none. Throws like LoadRunConfig.
double LoadStopGraceSeconds(const std::string& path);

// Fills in derived settings and applies every rule of proto/rules/run_rules.h. world_size:
// number of ranks in the gang. Throws TrainerError(kBadConfig) with the broken rules, one per line.
void ResolveRunConfig(int64_t world_size, RunConfig& config);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_RUN_CONFIG_JSON_H_
