// The origin of a submitted job: the job that was copied, and the job whose checkpoint is
// resumed.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_JOB_ORIGIN_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_JOB_ORIGIN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// INVALID_ARGUMENT: no job with this number was submitted. OK for 0, for archived jobs and for
// deleted jobs.
absl::Status CheckClonedFrom(const ClusterState& state, int64_t cloned_from);

// Returns the job that wrote the checkpoint in the directory `path`. First searches the checkpoint
// lists of the jobs in the state. If none contains the path, for example because the job is
// archived, parses the path: the directory below `checkpoint_root` names the job, and the last
// directory names the step.
std::optional<v1::CheckpointOrigin> OriginOfCheckpoint(const ClusterState& state,
                                                       const std::string& path,
                                                       const std::string& checkpoint_root);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_JOB_ORIGIN_H_
