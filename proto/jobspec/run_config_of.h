// Converts a JobSpec to a RunConfig, which is the form of a job's settings that proto/rules uses.
#ifndef TRAINYARD_PROTO_JOBSPEC_RUN_CONFIG_OF_H_
#define TRAINYARD_PROTO_JOBSPEC_RUN_CONFIG_OF_H_

#include <string>

#include "proto/contract/run_config.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Fields that are unset in `spec` keep the initial values of RunConfig.
RunConfig RunConfigOf(const v1::JobSpec& spec);

// Sets one integer field of the spec, such as "train.steps", to its value in `config`, unless it is
// already set. Returns true if it set the field.
bool CopySetting(const RunConfig& config, const std::string& key, v1::JobSpec& spec);

// Number of ranks of the job: nodes * slots_per_node.
int WorldSize(const v1::JobSpec& spec);

// True if the ranks run trainyard-trainer, not a user's command.
bool RunsOurTrainer(const v1::JobSpec& spec);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RUN_CONFIG_OF_H_
