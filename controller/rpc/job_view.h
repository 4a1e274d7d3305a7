// Jobs as users see them: the durable state, with what was heard lately merged in.
#ifndef TRAINYARD_CONTROLLER_RPC_JOB_VIEW_H_
#define TRAINYARD_CONTROLLER_RPC_JOB_VIEW_H_

#include "controller/core/cluster_state.h"
#include "controller/core/observations.h"
#include "controller/rpc/cluster_loop.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Succeeded, failed or stopped.
bool HasEnded(v1::JobState state);

// The whole job with progress and last steps.
v1::Job FullJob(const JobEntry& entry, const Observations& observations);

// For lists: the newest attempt only, without origins and checkpoints.
v1::Job ListedJob(const JobEntry& entry, const Observations& observations);

// Finds the job that a request names. INVALID_ARGUMENT, NOT_FOUND.
absl::StatusOr<const JobEntry*> FindNamedJob(const ClusterView& view, const std::string& reference);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_JOB_VIEW_H_
