// `trainyard report`: shows the loss curve of a job, or the time ledger of many jobs.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_REPORT_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_REPORT_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// If `by` is empty, reports the loss curve of `job`. Otherwise, reports the time ledger of `job`
// or, if `job` is empty, of all jobs.
struct ReportOptions {
  std::string job;
  std::string by;     // cluster, user, job or week.
  std::string since;  // A duration, such as 7d; empty for all time.
  std::string user;   // Include only this user's jobs.
  int limit = 0;      // Maximum number of groups. 0 means 100.
};

// Adds the command and its options.
void AddReport(CLI::App& parent, Grammar& grammar);

Outcome RunReport(const ReportOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_REPORT_H_
