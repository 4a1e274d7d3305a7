// `trainyard submit`: submits a job and optionally follows it.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_SUBMIT_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_SUBMIT_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"
#include "cli/grammar/job_file_options.h"

namespace trainyard::cli {

struct SubmitOptions {
  JobFileOptions job;
  bool follow = false;
  bool wait = false;
  bool dry_run = false;
  bool hold = false;
  std::string timeout;
  std::string request_id;
  std::string cloned_from;         // Reference to a job; may be empty.
  std::vector<std::string> after;  // References to jobs. Not empty: replaces the job file's list.
};

// Adds the command and its options.
void AddSubmit(CLI::App& parent, Grammar& grammar);

Outcome RunSubmit(const SubmitOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_SUBMISSION_SUBMIT_H_
