#include "cli/commands/nodes/remove.h"

#include <memory>
#include <ostream>

#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void AddRemoveNode(CLI::App& node, Grammar& grammar) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = node.add_subcommand("remove", "Remove a lost node");
  command->add_option("node", *name, kNodeHelp)->required();
  grammar.runners[command] = [name](Context& context) { return RunRemoveNode(*name, context); };
}

Outcome RunRemoveNode(const std::string& node, Context& context) {
  v1::RemoveNodeRequest request;
  request.set_node(node);
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::RemoveNodeResponse response,
                             context.client.RemoveNode(request));
  if (IsTable(context.format)) {
    *context.console.out << "node " << response.name() << " removed\n";
    PrintNote(context.console, "the node rejoins if a worker with this node's identity connects");
    return ExitCode::kOk;
  }
  PrintDocument(StableJson(response), response.name(), context.format, context.console);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
