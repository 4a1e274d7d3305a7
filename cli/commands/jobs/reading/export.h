// `trainyard export metrics`: writes a job's metrics for other tools.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_EXPORT_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_EXPORT_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct ExportMetricsOptions {
  std::string job;
  std::string format;
  // File, or directory for tensorboard. Empty: stdout.
  std::string out;
};

// Adds the command and its options.
void AddExport(CLI::App& parent, Grammar& grammar);

Outcome RunExportMetrics(const ExportMetricsOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_EXPORT_H_
