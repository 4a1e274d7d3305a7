// Jobs that a user prevents from running. A job that has already started is paused; a job that has
// not started is held. Paused and held jobs have no slots and are not queued, but keep their name
// and checkpoint directory.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_PAUSE_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_PAUSE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/principal.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// Returns no events if the job is already paused or pausing. Errors: NOT_FOUND, INVALID_ARGUMENT.
// FAILED_PRECONDITION: the job has ended, is stopping, or has finished and is about to end.
absl::StatusOr<std::vector<v1::Event>> DecidePause(const ClusterState& state,
                                                   const v1::PauseJobRequest& request,
                                                   const Principal& principal, Timestamp now);
// Errors: NOT_FOUND, INVALID_ARGUMENT. FAILED_PRECONDITION: the job has ended, or it is neither
// paused, pausing nor held.
absl::StatusOr<std::vector<v1::Event>> DecideResume(const ClusterState& state,
                                                    const v1::ResumeJobRequest& request,
                                                    const Principal& principal, Timestamp now);

// Describes a paused or held job, for example: "paused by user ada; it uses no slots and
// continues from the checkpoint of step 20 when it is resumed".
std::string PauseText(const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_PAUSE_H_
