// The jobs from which a submitted job comes: the job that it copies, and the job whose checkpoint
// it is resumed from.
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
// deleted ones.
absl::Status CheckClonedFrom(const ClusterState& state, int64_t cloned_from);

// Returns the job that wrote the checkpoint in the directory `path`. The checkpoint is found in the
// list of its job. If the list has no such checkpoint, for example because the job is archived, the
// job is found by its directory below `checkpoint_root`, and the step by the directory's name.
std::optional<v1::CheckpointOrigin> OriginOfCheckpoint(const ClusterState& state,
                                                       const std::string& path,
                                                       const std::string& checkpoint_root);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_JOB_ORIGIN_H_
