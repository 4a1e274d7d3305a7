// `trainyard server check`: verifies every page of the store.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_CHECK_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_CHECK_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddServerCheck(CLI::App& server, Grammar& grammar);

// data_dir is the directory of a stopped controller. If it is empty, the running controller checks
// its own store.
Outcome RunServerCheck(const std::string& data_dir, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_CHECK_H_
