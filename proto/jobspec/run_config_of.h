// JobSpec -> RunConfig: a job's settings in the form that the rules of proto/contract read.
#ifndef TRAINYARD_PROTO_JOBSPEC_RUN_CONFIG_OF_H_
#define TRAINYARD_PROTO_JOBSPEC_RUN_CONFIG_OF_H_

#include <string>

#include "proto/contract/run_config.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Fields that are not set keep RunConfig's value.
RunConfig RunConfigOf(const v1::JobSpec& spec);

// Sets one whole number of the spec, such as "train.steps", to its value in `config`, unless it is
// set already. Returns true when it was not.
bool CopySetting(const RunConfig& config, const std::string& key, v1::JobSpec& spec);

// Ranks of the job: nodes * slots_per_node.
int WorldSize(const v1::JobSpec& spec);

// True when the ranks run trainyard-trainer and not a command of the user's.
bool RunsOurTrainer(const v1::JobSpec& spec);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RUN_CONFIG_OF_H_
