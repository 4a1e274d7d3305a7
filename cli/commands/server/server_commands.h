// The noun `server` and its commands.
#ifndef TRAINYARD_CLI_COMMANDS_SERVER_SERVER_COMMANDS_H_
#define TRAINYARD_CLI_COMMANDS_SERVER_SERVER_COMMANDS_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

void AddServerCommands(CLI::App& app, Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_SERVER_SERVER_COMMANDS_H_
