#include "cli/commands/nodes/cordon.h"

#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/grammar/option_help.h"
#include "cli/output/cluster/node_views.h"
#include "cli/output/files/stable_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

void AddCommand(CLI::App& node, const char* name, bool cordoned, Grammar& grammar) {
  const auto options = std::make_shared<CordonOptions>();
  options->cordoned = cordoned;
  CLI::App* command = node.add_subcommand(
      name, cordoned ? "Stop placing ranks on a node; running ranks continue"
                     : "End a cordon or a drain, so that the node gets new ranks again");
  command->add_option("node", options->node, kNodeHelp)->required();
  if (cordoned) command->add_option("--reason", options->reason, "reason, shown to all users");
  grammar.runners[command] = [options](Context& context) { return RunCordon(*options, context); };
}

}  // namespace

void AddCordon(CLI::App& node, Grammar& grammar) {
  AddCommand(node, "cordon", true, grammar);
  AddCommand(node, "uncordon", false, grammar);
  AddCommand(node, "undrain", false, grammar);
}

Outcome RunCordon(const CordonOptions& options, Context& context) {
  v1::CordonNodeRequest request;
  request.set_node(options.node);
  request.set_cordoned(options.cordoned);
  request.set_reason(options.reason);
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::CordonNodeResponse response,
                             context.client.CordonNode(request));
  const v1::Node& node = response.node();
  if (!IsTable(context.format)) {
    PrintDocument(StableJson(node), node.name(), context.format, context.console);
    return ExitCode::kOk;
  }
  *context.console.out << "node " << node.name()
                       << (node.cordoned()
                               ? " cordoned: running ranks continue, new ranks are not placed"
                               : " accepts ranks again")
                       << "\n";
  if (node.cordoned()) {
    PrintNote(context.console, absl::StrCat("  undo  ", UncordonCommand(node)));
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
