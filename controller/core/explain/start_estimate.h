// The estimated start of a waiting job as users see it.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_START_ESTIMATE_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_START_ESTIMATE_H_

#include <cstdint>

#include "controller/core/explain/start_forecast.h"
#include "proto/support/clock.h"
#include "trainyard/v1/pending_reason.pb.h"

namespace trainyard::controller {

// Sets the estimated start of a waiting job, and the range around it. The width of the range
// follows from measured errors (tests/simulation/README.md): about nine of ten jobs start within it
// if the remaining time of running jobs is known. Leaves the reason unchanged if the forecast does
// not contain the job.
void SetEstimate(const ForecastedStarts& starts, int64_t job_id, Timestamp now,
                 v1::PendingReason& reason);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_START_ESTIMATE_H_
