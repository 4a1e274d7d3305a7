// `trainyard node remove`: removes a lost node.
#ifndef TRAINYARD_CLI_COMMANDS_NODES_REMOVE_H_
#define TRAINYARD_CLI_COMMANDS_NODES_REMOVE_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddRemoveNode(CLI::App& node, Grammar& grammar);

Outcome RunRemoveNode(const std::string& node, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_NODES_REMOVE_H_
