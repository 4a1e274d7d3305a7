// The commands nodes, node describe, cordon, server status and version.
#include <algorithm>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "cli/output/node_views.h"
#include "cli/output/readable.h"
#include "cli/output/stable_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Prints the command that lifts a cordon, when a node is cordoned.
void HintUncordon(const v1::ListNodesResponse& response, Console& console) {
  const auto cordoned = std::ranges::find_if(response.nodes(), &v1::Node::cordoned);
  if (cordoned == response.nodes().end()) return;
  PrintNote(console,
            absl::StrCat("new ranks on a cordoned node again: `", UncordonCommand(*cordoned), "`"));
}

}  // namespace

Outcome RunNodes(Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListNodesResponse response, context.client.ListNodes({}));
  PrintListing(NodeListing(response, context.console.Now()), context.format, context.console);
  if (IsTable(context.format)) HintUncordon(response, context.console);
  if (response.nodes().empty() && IsTable(context.format)) {
    PrintNote(context.console, absl::StrCat("no nodes; start a worker with `trainyard-worker "
                                            "--controller ",
                                            context.client.server(), "`"));
  }
  return ExitCode::kOk;
}

Outcome RunNodeDescribe(const std::string& name, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListNodesResponse response, context.client.ListNodes({}));
  const auto node = std::ranges::find_if(response.nodes(), [&](const v1::Node& each) {
    return each.id() == name || each.name() == name;
  });
  if (node == response.nodes().end()) {
    return absl::NotFoundError(
        absl::StrCat("there is no node `", name, "`; `trainyard nodes` lists them"));
  }
  if (IsTable(context.format)) {
    *context.console.out << NodeText(*node, response, context.console.Now());
  } else {
    PrintDocument(StableJson(*node), node->name(), context.format, context.console);
  }
  return ExitCode::kOk;
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
                               ? " cordoned: its ranks go on, no new one is placed there"
                               : " takes ranks again")
                       << "\n";
  if (node.cordoned()) {
    PrintNote(context.console, absl::StrCat("  lift it  ", UncordonCommand(node)));
  }
  return ExitCode::kOk;
}

Outcome RunServerStatus(Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetServerInfoResponse info, context.client.GetServerInfo());
  if (!IsTable(context.format)) {
    nlohmann::json document = StableJson(info);
    document["server"] = context.client.server();
    PrintDocument(document, context.client.server(), context.format, context.console);
    return ExitCode::kOk;
  }
  *context.console.out << "controller at " << context.client.server() << "\n  version      "
                       << info.version() << "\n  up           "
                       << AgeText(info.started_time_ms(), context.console.Now())
                       << "\n  data         " << info.data_dir() << "\n  checkpoints  "
                       << info.checkpoint_root() << "\n";
  for (const v1::StorageProblem& problem : info.storage_problems()) {
    *context.console.out << "  cannot store " << problem.store() << " since "
                         << AgeText(problem.since_ms(), context.console.Now()) << ": "
                         << problem.message() << "\n";
  }
  return ExitCode::kOk;
}

Outcome RunVersion(bool client_only, Context& context) {
  absl::StatusOr<v1::GetServerInfoResponse> info = absl::UnavailableError("not asked");
  if (!client_only) info = context.client.GetServerInfo();
  if (!IsTable(context.format)) {
    nlohmann::json document = {{"client", TRAINYARD_VERSION}, {"server", nullptr}};
    if (info.ok()) document["server"] = info->version();
    PrintDocument(document, TRAINYARD_VERSION, context.format, context.console);
    return ExitCode::kOk;
  }
  *context.console.out << "client  " << TRAINYARD_VERSION << "\n";
  if (info.ok()) *context.console.out << "server  " << info->version() << "\n";
  if (!info.ok() && !client_only) {
    PrintNote(context.console, absl::StrCat("server  no answer from ", context.client.server()));
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
