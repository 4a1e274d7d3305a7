// Compares a job's model with the model of the checkpoint from which the job starts.
#ifndef TRAINYARD_PROTO_JOBSPEC_RULES_RESUME_CHECK_H_
#define TRAINYARD_PROTO_JOBSPEC_RULES_RESUME_CHECK_H_

#include "proto/model/checkpoint_model.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Reads the manifest of checkpoint.resume_from on this machine. The result is empty if the job has
// no resume_from, or if it has its own command. `spec` must be resolved.
CheckpointFit CheckResumeFrom(const v1::JobSpec& spec);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RULES_RESUME_CHECK_H_
