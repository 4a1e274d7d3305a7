// `trainyard topology show` and `topology set`.
#ifndef TRAINYARD_CLI_COMMANDS_NODES_TOPOLOGY_H_
#define TRAINYARD_CLI_COMMANDS_NODES_TOPOLOGY_H_

#include <string>

#include "cli/grammar/grammar.h"

namespace trainyard::cli {

// Adds the commands and their options.
void AddTopologyCommands(CLI::App& app, Grammar& grammar);

Outcome RunTopologyShow(Context& context);
// `file`: path of the topology file; "-" reads stdin.
Outcome RunTopologySet(const std::string& file, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_NODES_TOPOLOGY_H_
