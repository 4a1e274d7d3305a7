// The commands nodes, node describe, cordon, uncordon, release and remove, server status and
// version.
#include <algorithm>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/commands/commands.h"
#include "cli/output/answered_at.h"
#include "cli/output/node_views.h"
#include "cli/output/readable.h"
#include "cli/output/stable_json.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Prints the command that uncordons the first cordoned node, if there is one.
void HintUncordon(const v1::ListNodesResponse& response, Console& console) {
  const auto cordoned = std::ranges::find_if(response.nodes(), &v1::Node::cordoned);
  if (cordoned == response.nodes().end()) return;
  PrintNote(console,
            absl::StrCat("new ranks on a cordoned node again: `", UncordonCommand(*cordoned), "`"));
}

// The node with this id, else the only node with this name.
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
        absl::StrCat("there is no node `", reference, "`; `trainyard nodes` lists them"));
  }
  const auto append_id = [](std::string* out, const v1::Node* node) { *out += node->id(); };
  return absl::InvalidArgumentError(
      absl::StrCat("several nodes are called `", reference,
                   "`; use the id of one: ", absl::StrJoin(named, ", ", append_id)));
}

// Prints the space of the stores and the disk, and the rules that free it.
void PrintSpace(const v1::GetServerInfoResponse& info, Timestamp now, Context& context) {
  std::ostream& out = *context.console.out;
  for (const v1::StoreSpace& store : info.stores()) {
    out << "  " << store.store()
        << std::string(13 - std::min<std::size_t>(store.store().size(), 12), ' ')
        << BytesText(store.used_bytes());
    if (store.bound_bytes() > 0) out << " of at most " << BytesText(store.bound_bytes());
    if (store.bound_bytes() > 0 && store.used_bytes() > store.bound_bytes()) {
      out << " (over: what is left is of jobs that have not ended)";
    }
    out << "\n";
  }
  if (info.disk_bytes() > 0) {
    out << "  disk         " << BytesText(info.disk_free_bytes()) << " free of "
        << BytesText(info.disk_bytes()) << "\n";
  }
  for (const v1::StoreScrub& scrub : info.scrubs()) {
    out << "  checked      " << scrub.store() << ": "
        << (scrub.finished_ms() == 0
                ? absl::StrCat(NumberText(100 * scrub.part(), 3), " % so far")
                : absl::StrCat("all pages ", AgoText(scrub.finished_ms(), now)))
        << (scrub.damaged_pages() == 0
                ? ""
                : absl::StrCat(", ", scrub.damaged_pages(), " DAMAGED pages"))
        << "\n";
  }
  if (!info.retention().empty()) {
    out << "  kept         " << absl::StrJoin(info.retention(), "; ") << "\n";
  }
}

// Webhooks and command hooks: one line each.
void PrintHooks(const v1::GetServerInfoResponse& info, Timestamp now, std::ostream& out) {
  for (const v1::HookStatus& hook : info.hooks()) {
    out << "  hook         " << OneLine(hook.name()) << " -> " << OneLine(hook.target()) << ": "
        << hook.delivered() << " delivered";
    if (hook.dropped() > 0) out << ", " << hook.dropped() << " DROPPED";
    if (hook.failing_since_ms() > 0) {
      out << ", FAILS since " << AgeText(hook.failing_since_ms(), now) << ", " << hook.behind()
          << " events behind: " << OneLine(hook.error());
    }
    out << "\n";
  }
}

}  // namespace

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
                       << (node.has_health() ? " released, but it is unhealthy: " : " takes ranks")
                       << node.health().reason() << "\n";
  return ExitCode::kOk;
}

Outcome RunRemoveNode(const std::string& node, Context& context) {
  v1::RemoveNodeRequest request;
  request.set_node(node);
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::RemoveNodeResponse response,
                             context.client.RemoveNode(request));
  if (IsTable(context.format)) {
    *context.console.out << "node " << response.name() << " removed\n";
    PrintNote(context.console, "a worker that attaches with its identity joins again");
    return ExitCode::kOk;
  }
  PrintDocument(StableJson(response), response.name(), context.format, context.console);
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
  const Timestamp now = AnsweredAt(info, context.console);
  *context.console.out << "controller at " << context.client.server() << "\n  version      "
                       << info.version() << "\n  up           "
                       << AgeText(info.started_time_ms(), now) << "\n  data         "
                       << info.data_dir() << "\n  checkpoints  " << info.checkpoint_root()
                       << "\n  access       " << info.access() << "\n";
  const auto who = context.client.WhoAmI([&] {
    v1::WhoAmIRequest request;
    request.set_user(context.environment.user);
    return request;
  }());
  if (who.ok()) {
    *context.console.out << "  you are      " << who->user()
                         << (who->verified() ? ", by the owner of this connection"
                                             : ", as this program says")
                         << "\n";
  }
  for (const std::string& warning : info.warnings()) {
    *context.console.out << "  WARNING      " << warning << "\n";
  }
  PrintSpace(info, now, context);
  PrintHooks(info, now, *context.console.out);
  for (const v1::StorageProblem& problem : info.storage_problems()) {
    *context.console.out << "  cannot store " << problem.store() << " since "
                         << AgeText(problem.since_ms(), now) << ": " << problem.message() << "\n";
  }
  return ExitCode::kOk;
}

// Succeeds without a controller, too: the client's own version is always known.
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
