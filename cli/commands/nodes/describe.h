// `trainyard node describe`.
#ifndef TRAINYARD_CLI_COMMANDS_NODES_DESCRIBE_H_
#define TRAINYARD_CLI_COMMANDS_NODES_DESCRIBE_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the command and its options.
void AddNodeDescribe(CLI::App& node, Grammar& grammar);

// `name` is a node's name or id.
Outcome RunNodeDescribe(const std::string& name, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_NODES_DESCRIBE_H_
