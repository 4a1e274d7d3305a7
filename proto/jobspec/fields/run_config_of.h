// Converts a JobSpec to a RunConfig, which is the form of a job's settings that proto/rules uses.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_RUN_CONFIG_OF_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_RUN_CONFIG_OF_H_

#include <string>

#include "proto/contract/run_config.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Fields that are unset in `spec` keep the initial values of RunConfig.
RunConfig RunConfigOf(const v1::JobSpec& spec);

// Copies one integer setting, such as "train.steps", from `config` to `spec`, unless `spec` already
// has it. Returns true if the setting was copied.
bool CopySetting(const RunConfig& config, const std::string& key, v1::JobSpec& spec);

// Number of ranks of the job: nodes * slots_per_node.
int WorldSize(const v1::JobSpec& spec);

// True if the ranks run trainyard-trainer instead of a user's command.
bool RunsOurTrainer(const v1::JobSpec& spec);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_RUN_CONFIG_OF_H_
