// Submits a resolved job file.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_SUBMISSION_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_SUBMISSION_H_

#include <cstdint>
#include <string>

#include "cli/context/context.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// Returns an id by which the controller recognizes a repeated submit of the same job. The id is not
// a secret.
std::string MakeRequestId();

struct SubmissionTerms {
  std::string request_id;
  bool hold = false;        // The job waits until it is resumed.
  int64_t cloned_from = 0;  // Job whose settings the new one copies; 0: none.
};

// Copies the job's code to the controller, if it has any, then submits the job.
absl::StatusOr<v1::Job> SubmitResolved(ResolvedSpec resolved, const SubmissionTerms& terms,
                                       Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_SUBMISSION_H_
