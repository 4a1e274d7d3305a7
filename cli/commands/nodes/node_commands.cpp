#include "cli/commands/nodes/node_commands.h"

#include "cli/commands/nodes/cordon.h"
#include "cli/commands/nodes/describe.h"
#include "cli/commands/nodes/drain.h"
#include "cli/commands/nodes/list.h"
#include "cli/commands/nodes/release.h"
#include "cli/commands/nodes/remove.h"
#include "cli/commands/nodes/reservation.h"
#include "cli/commands/nodes/topology.h"

namespace trainyard::cli {

void AddNodeCommands(CLI::App& app, Grammar& grammar) {
  MakeNodeList(*app.add_subcommand("nodes", "List nodes and their slots"), grammar);
  CLI::App* node =
      app.add_subcommand("node", "Nodes: list, describe, cordon, drain, release, remove");
  node->require_subcommand(0, 1);
  MakeNodeList(*node, grammar);
  MakeNodeList(*node->add_subcommand("list", "Alias of nodes"), grammar);
  AddNodeDescribe(*node, grammar);
  AddCordon(*node, grammar);
  AddDrain(*node, grammar);
  AddReleaseNode(*node, grammar);
  AddRemoveNode(*node, grammar);
  AddTopologyCommands(app, grammar);
  AddReservationCommands(app, grammar);
}

}  // namespace trainyard::cli
