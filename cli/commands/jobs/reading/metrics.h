// `trainyard metrics`: prints a job's metric series by step.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_METRICS_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_METRICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct MetricsOptions {
  std::string job;
  std::vector<std::string> keys;
  bool all = false;  // True: every series. False: only the main series.
  int64_t from_step = 0;
  int64_t to_step = 0;
  // -1: 20 for tables, all points for other formats.
  int buckets = -1;
};

// Adds the command and its options.
void AddMetrics(CLI::App& parent, Grammar& grammar);

Outcome RunMetrics(const MetricsOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_METRICS_H_
