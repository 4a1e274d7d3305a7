// Where the time of a job went, as far as the times of its attempts tell.
#ifndef TRAINYARD_CONTROLLER_METRICS_JOB_TIMES_H_
#define TRAINYARD_CONTROLLER_METRICS_JOB_TIMES_H_

#include <cstdint>
#include <map>
#include <string_view>

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Milliseconds by phase: "queued" (submit to the first placement), "init" (placed, ranks start),
// "train" (every rank runs), "restart" (from a failure to the next placement), "earlier" (attempts
// so old that they are no longer kept). The sum is the time from submit to the end, or to `now`.
// What happens within "train" (data stalls, checkpoints, steps trained again) the attempts do not
// say. Pure.
std::map<std::string_view, int64_t> JobTimes(const v1::Job& job, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_METRICS_JOB_TIMES_H_
