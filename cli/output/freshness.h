// Age of a job's newest statistics: a rate or an ETA is shown only while they are current.
#ifndef TRAINYARD_CLI_OUTPUT_FRESHNESS_H_
#define TRAINYARD_CLI_OUTPUT_FRESHNESS_H_

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// True if the job is running and its newest record is fresh (proto/support/freshness.h): its rate
// and ETA are then current.
bool HasFreshRate(const v1::Job& job, Timestamp now);

// The job without an outdated rate and ETA.
v1::Job WithoutOldRate(const v1::Job& job, Timestamp now);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_FRESHNESS_H_
