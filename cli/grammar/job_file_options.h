// The job file and its overrides, as `submit`, `plan`, `cost`, `smoke` and `tune` accept them.
#ifndef TRAINYARD_CLI_GRAMMAR_JOB_FILE_OPTIONS_H_
#define TRAINYARD_CLI_GRAMMAR_JOB_FILE_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/context/context.h"
#include "cli/grammar/grammar.h"
#include "proto/jobspec/loader.h"

namespace trainyard::cli {

// A job file and its overrides from the command line.
struct JobFileOptions {
  std::string file;  // Path, name of a recipe, or "-" for standard input.
  std::vector<std::string> sets;
  std::string name;
  // The words after `--`. Unless empty, these words replace the job's command.
  std::vector<std::string> command;
};

// Adds the job file argument and the override options. Returns the option for the file.
CLI::Option* AddJobFileOptions(CLI::App& command, JobFileOptions& options);

// Reads the job file or recipe, and applies --set, --name and the command after `--`. On failure,
// returns INVALID_ARGUMENT with all errors. A missing file also gives INVALID_ARGUMENT, so that the
// exit code is always the one for wrong usage. Call it once, because standard input can be read
// only once.
absl::StatusOr<ResolvedSpec> ResolveJobFileOptions(const JobFileOptions& options,
                                                   const Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_JOB_FILE_OPTIONS_H_
