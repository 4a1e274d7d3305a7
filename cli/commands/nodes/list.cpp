#include "cli/commands/nodes/list.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "cli/output/cluster/node_views.h"
#include "cli/output/terminal/answered_at.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Prints the command that uncordons the first cordoned node, if there is one.
void HintUncordon(const v1::ListNodesResponse& response, Console& console) {
  const auto cordoned = std::ranges::find_if(response.nodes(), &v1::Node::cordoned);
  if (cordoned == response.nodes().end()) return;
  PrintNote(console, absl::StrCat("to allow new ranks on a cordoned node: `",
                                  UncordonCommand(*cordoned), "`"));
}

}  // namespace

void MakeNodeList(CLI::App& command, Grammar& grammar) {
  grammar.runners[&command] = [](Context& context) { return RunNodes(context); };
}

Outcome RunNodes(Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListNodesResponse response, context.client.ListNodes({}));
  PrintListing(NodeListing(response, AnsweredAt(response, context.console)), context.format,
               context.console);
  if (IsTable(context.format)) HintUncordon(response, context.console);
  if (response.nodes().empty() && IsTable(context.format)) {
    PrintNote(context.console, absl::StrCat("no nodes; start a worker with `trainyard-worker "
                                            "--controller ",
                                            context.client.server(), "`"));
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
