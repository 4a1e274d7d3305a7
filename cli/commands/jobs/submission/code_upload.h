// Copies the code of a job to the controller.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_CODE_UPLOAD_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_CODE_UPLOAD_H_

#include "absl/status/status.h"
#include "cli/context/context.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// If the job has a code.path to copy, takes a snapshot, sends what the controller lacks, and
// replaces the path with the snapshot's id and record. Prints the number of files and what was
// ignored. For a job that runs in place, only records the state of git. Does nothing without code.
absl::Status UploadCode(ResolvedSpec& resolved, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_CODE_UPLOAD_H_
