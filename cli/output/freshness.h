// The age of a job's newest statistics. A rate or an ETA is shown only while they are fresh.
#ifndef TRAINYARD_CLI_OUTPUT_FRESHNESS_H_
#define TRAINYARD_CLI_OUTPUT_FRESHNESS_H_

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// True if the job is running and its newest record is fresh (proto/support/freshness.h). Its rate
// and ETA are then up to date.
bool HasFreshRate(const v1::Job& job, Timestamp now);

// Returns the job. If its rate and ETA are outdated, they are removed.
v1::Job WithoutOldRate(const v1::Job& job, Timestamp now);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_FRESHNESS_H_
