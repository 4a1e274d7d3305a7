// Age of the newest statistics of a job: a rate or an ETA is shown only while they are current.
#ifndef TRAINYARD_CLI_OUTPUT_FRESHNESS_H_
#define TRAINYARD_CLI_OUTPUT_FRESHNESS_H_

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// True while the job runs and its newest record is no older than half a minute or three steps,
// whichever is more: then its rate and the time left hold now.
bool HasFreshRate(const v1::Job& job, Timestamp now);

// The job without a rate and a time left that do not hold now.
v1::Job WithoutOldRate(const v1::Job& job, Timestamp now);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_FRESHNESS_H_
