// `trainyard logs`: prints the output of ranks.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_LOGS_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_LOGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct LogsOptions {
  std::string job;
  bool follow = false;
  bool timestamps = false;
  std::string ranks;
  int64_t attempt = 0;
  std::string grep;
  bool ignore_case = false;
  bool regex = false;
  bool errors = false;
  // Unset: every line.
  std::optional<int64_t> tail;
};

// Adds the command and its options.
void AddLogs(CLI::App& parent, Grammar& grammar);

Outcome RunLogs(const LogsOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_LOGS_H_
