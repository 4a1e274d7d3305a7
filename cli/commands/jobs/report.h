// `trainyard report`: the loss curve of a job, or the ledger of many jobs.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_REPORT_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_REPORT_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// The loss curve of one job or, with `by`, the ledger of many.
struct ReportOptions {
  std::string job;
  std::string by;     // cluster, user, job or week.
  std::string since;  // A duration, such as 7d; empty for all time.
  std::string user;   // Only this user's jobs.
  int limit = 0;      // Number of groups; 0: 100.
};

// Adds the command and its options.
void AddReport(CLI::App& parent, Grammar& grammar);

Outcome RunReport(const ReportOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_REPORT_H_
