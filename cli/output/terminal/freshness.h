// Freshness of a job's statistics. A rate or an ETA is shown only if the newest record is fresh.
#ifndef TRAINYARD_CLI_OUTPUT_TERMINAL_FRESHNESS_H_
#define TRAINYARD_CLI_OUTPUT_TERMINAL_FRESHNESS_H_

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// True if the job is running and its newest record is fresh (proto/support/freshness.h), so that
// its rate and ETA are current.
bool HasFreshRate(const v1::Job& job, Timestamp now);

// Returns the job without its rate and ETA if they are outdated, else unchanged.
v1::Job WithoutOldRate(const v1::Job& job, Timestamp now);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TERMINAL_FRESHNESS_H_
