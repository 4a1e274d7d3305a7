// Adds the estimated start to the reason why a job waits.
#ifndef TRAINYARD_CONTROLLER_API_JOBS_PENDING_ESTIMATE_H_
#define TRAINYARD_CONTROLLER_API_JOBS_PENDING_ESTIMATE_H_

#include <functional>

#include "controller/api/context/api.h"
#include "trainyard/v1/pending_reason.pb.h"

namespace trainyard::controller {

// Calls `done` with `reason`, to which the estimated start is added if the job waits for slots or
// for conditions. Call on the loop thread. Calls `done` on the loop thread, possibly after a
// forecast (start_forecaster.h).
void AddEstimate(const Api& api, const ClusterView& view, const JobEntry& entry,
                 v1::PendingReason reason, std::function<void(v1::PendingReason)> done);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOBS_PENDING_ESTIMATE_H_
