// `trainyard wait`: waits until jobs end.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_WAIT_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_WAIT_H_

#include <string>
#include <vector>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct WaitOptions {
  std::vector<std::string> jobs;
  bool progress = false;
  std::string timeout;
};

// Adds the command and its options.
void AddWait(CLI::App& parent, Grammar& grammar);

Outcome RunWait(const WaitOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_WAIT_H_
