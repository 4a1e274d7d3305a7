// Extensions of the time limit of a job.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_EXTENSION_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_EXTENSION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Errors: NOT_FOUND, INVALID_ARGUMENT (the added time is not above 0, or the sum exceeds
// kLongestTimeLimitMs), ABORTED (the earlier extensions differ from request.extended_ms).
// FAILED_PRECONDITION: the job has no time limit, has ended, has finished, or is stopping or about
// to be queued again.
absl::StatusOr<std::vector<v1::Event>> DecideExtension(const ClusterState& state,
                                                       const v1::ExtendJobRequest& request,
                                                       const Principal& principal, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_EXTENSION_H_
