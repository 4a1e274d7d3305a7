// `trainyard nodes` and `trainyard node list`.
#ifndef TRAINYARD_CLI_COMMANDS_NODES_LIST_H_
#define TRAINYARD_CLI_COMMANDS_NODES_LIST_H_

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Makes `command` list nodes.
void MakeNodeList(CLI::App& command, Grammar& grammar);

Outcome RunNodes(Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_NODES_LIST_H_
