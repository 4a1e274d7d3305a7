// The command `nodes` and the noun `node` with its commands.
#ifndef TRAINYARD_CLI_COMMANDS_NODES_NODE_COMMANDS_H_
#define TRAINYARD_CLI_COMMANDS_NODES_NODE_COMMANDS_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

void AddNodeCommands(CLI::App& app, Grammar& grammar);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_NODES_NODE_COMMANDS_H_
