#include "cli/commands/nodes/describe.h"

#include <memory>
#include <ostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/grammar/option_help.h"
#include "cli/output/cluster/node_views.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/answered_at.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Returns the node with this id, or else the only node with this name.
absl::StatusOr<const v1::Node*> FindNode(const v1::ListNodesResponse& response,
                                         const std::string& reference) {
  std::vector<const v1::Node*> named;
  for (const v1::Node& node : response.nodes()) {
    if (node.id() == reference) return &node;
    if (node.name() == reference) named.push_back(&node);
  }
  if (named.size() == 1) return named.front();
  if (named.empty()) {
    return absl::NotFoundError(
        absl::StrCat("there is no node `", reference, "`; `trainyard nodes` lists all nodes"));
  }
  const auto append_id = [](std::string* out, const v1::Node* node) { *out += node->id(); };
  return absl::InvalidArgumentError(
      absl::StrCat("several nodes are called `", reference,
                   "`; use the id of one: ", absl::StrJoin(named, ", ", append_id)));
}

}  // namespace

void AddNodeDescribe(CLI::App& node, Grammar& grammar) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command =
      node.add_subcommand("describe", "Show a node's state, hardware, jobs and failures");
  command->add_option("node", *name, kNodeHelp)->required();
  grammar.runners[command] = [name](Context& context) { return RunNodeDescribe(*name, context); };
}

Outcome RunNodeDescribe(const std::string& name, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListNodesResponse response, context.client.ListNodes({}));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::Node* node, FindNode(response, name));
  if (IsTable(context.format)) {
    *context.console.out << NodeText(*node, response, AnsweredAt(response, context.console));
  } else {
    PrintDocument(StableJson(*node), node->name(), context.format, context.console);
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
