// `trainyard documents`: the documents that a step of a job reads.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_DOCUMENTS_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_DOCUMENTS_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "cli/data/data_command.h"
#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct DocumentsOptions {
  std::string job;
  int64_t step = 0;
  int64_t sample = 0;  // From 1. 0: the first `limit` samples.
  int64_t limit = 10;
  int64_t max_bytes = 200;  // Of each text.
  bool accepts_changed = false;
};

// Returns the samples of the step. If `attempt` is 0, uses the newest attempt that trained the
// step, because only its training of the step counts. Returns NOT_FOUND if no attempt trained the
// step, and FAILED_PRECONDITION if the order of the job's samples is unknown.
absl::StatusOr<data::StepDocumentsOptions> StepOptionsOf(const v1::Job& job, int64_t attempt,
                                                         const DocumentsOptions& options);

void AddDocuments(CLI::App& parent, Grammar& grammar);
Outcome RunDocuments(const DocumentsOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_DOCUMENTS_H_
