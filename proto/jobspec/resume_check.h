// Compares the model of the checkpoint from which a job starts with the job's model.
#ifndef TRAINYARD_PROTO_JOBSPEC_RESUME_CHECK_H_
#define TRAINYARD_PROTO_JOBSPEC_RESUME_CHECK_H_

#include "proto/model/checkpoint_model.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Reads the manifest of checkpoint.resume_from on this machine. The result is empty for a job
// without resume_from and for a job with its own command. `spec` must be resolved.
CheckpointFit CheckResumeFrom(const v1::JobSpec& spec);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_RESUME_CHECK_H_
