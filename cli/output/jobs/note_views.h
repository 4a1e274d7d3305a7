// Shows users' notes on steps of a job.
#ifndef TRAINYARD_CLI_OUTPUT_JOBS_NOTE_VIEWS_H_
#define TRAINYARD_CLI_OUTPUT_JOBS_NOTE_VIEWS_H_

#include "cli/output/terminal/table.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::cli {

// Lists the notes by step. Notes on the same step are in the order in which they were written.
Listing NoteListing(const v1::Job& job, Timestamp now);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_JOBS_NOTE_VIEWS_H_
