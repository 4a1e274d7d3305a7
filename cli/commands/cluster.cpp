// nodes, cordon, server status and version.
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "cli/output/job_views.h"
#include "cli/output/readable.h"
#include "cli/output/stable_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

Outcome RunNodes(Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListNodesResponse response, context.client.ListNodes({}));
  PrintListing(NodeListing(response, context.console.Now()), context.format, context.console);
  if (response.nodes().empty() && IsTable(context.format)) {
    PrintNote(context.console, absl::StrCat("no nodes; start a worker with `trainyard-worker "
                                            "--controller ",
                                            context.client.server(), "`"));
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
