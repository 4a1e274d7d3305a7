#include "cli/commands/nodes/release.h"

#include <memory>
#include <ostream>

#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void AddReleaseNode(CLI::App& node, Grammar& grammar) {
  const auto options = std::make_shared<ReleaseOptions>();
  CLI::App* command = node.add_subcommand("release", "End the quarantine of a node");
  command->add_option("node", options->node, kNodeHelp)->required();
  command->add_option("--reason", options->reason, "reason, shown to all users");
  grammar.runners[command] = [options](Context& context) {
    return RunReleaseNode(*options, context);
  };
}

Outcome RunReleaseNode(const ReleaseOptions& options, Context& context) {
  v1::ReleaseNodeRequest request;
  request.set_node(options.node);
  request.set_reason(options.reason);
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ReleaseNodeResponse response,
                             context.client.ReleaseNode(request));
  const v1::Node& node = response.node();
  if (!IsTable(context.format)) {
    PrintDocument(StableJson(node), node.name(), context.format, context.console);
    return ExitCode::kOk;
  }
  *context.console.out << "node " << node.name()
                       << (node.has_health() ? " released, but unhealthy: " : " accepts ranks")
                       << node.health().reason() << "\n";
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
