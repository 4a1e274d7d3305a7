#include "cli/commands/nodes/topology.h"

#include <map>
#include <memory>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/context/input_text.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "cli/output/terminal/table.h"
#include "proto/jobspec/topology_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

Listing GroupListing(const v1::GetTopologyResponse& topology) {
  Listing listing;
  listing.columns = {{"GROUP", false, false, true},
                     {"LEVEL"},
                     {"PARENT"},
                     {"NODES", true},
                     {"OPEN", true},
                     {"IDLE", true}};
  std::map<std::string, std::string> indents;
  for (const v1::GroupState& group : topology.groups()) {
    const auto above = indents.find(group.parent());
    const std::string indent = above == indents.end() ? "" : above->second;
    indents[group.name()] = indent + "  ";
    Row row;
    row.cells = {indent + group.name(),
                 group.level(),
                 group.parent(),
                 absl::StrCat(group.nodes()),
                 absl::StrCat(group.open_nodes()),
                 absl::StrCat(group.idle_nodes())};
    row.exact_cells = row.cells;
    row.exact_cells.front() = group.name();
    row.name = group.name();
    row.document = StableJson(group);
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

void PrintNames(const std::string& what,
                const google::protobuf::RepeatedPtrField<std::string>& names, Console& console) {
  constexpr int kNamed = 10;
  if (names.empty()) return;
  const bool is_cut = names.size() > kNamed;
  const auto end = is_cut ? names.begin() + kNamed : names.end();
  PrintNote(console,
            absl::StrCat(what, ": ", absl::StrJoin(names.begin(), end, ", "),
                         is_cut ? absl::StrCat(" and ", names.size() - kNamed, " more") : ""));
}

// A level without figures is not listed.
void PrintFigures(const v1::GetTopologyResponse& topology, Console& console) {
  for (const v1::TopologyLevel& level : topology.level_figures()) {
    std::string text;
    if (level.gpu_bandwidth() > 0) {
      absl::StrAppend(&text, ", ", NumberText(level.gpu_bandwidth() / 1e9, 3), " GB/s per GPU");
    }
    if (level.latency_seconds() > 0) {
      absl::StrAppend(&text, ", ", NumberText(level.latency_seconds() * 1e6, 3), " us per hop");
    }
    if (!text.empty()) PrintNote(console, absl::StrCat("level ", level.name(), text));
  }
}

void PrintTopology(const v1::GetTopologyResponse& topology, Context& context) {
  PrintListing(GroupListing(topology), context.format, context.console);
  if (!IsTable(context.format)) return;
  if (topology.groups().empty()) {
    PrintNote(context.console, "no topology; set one with `trainyard topology set FILE`");
    return;
  }
  PrintFigures(topology, context.console);
  PrintNames("nodes of the topology that have not joined", topology.absent_nodes(),
             context.console);
  PrintNames("nodes in no group", topology.other_nodes(), context.console);
}

}  // namespace

void AddTopologyCommands(CLI::App& app, Grammar& grammar) {
  CLI::App* topology =
      app.add_subcommand("topology", "Groups of nodes close to each other: show, set");
  topology->require_subcommand(1);
  CLI::App* show = topology->add_subcommand("show", "Show the groups with their nodes");
  grammar.runners[show] = [](Context& context) { return RunTopologyShow(context); };
  const auto file = std::make_shared<std::string>();
  CLI::App* set = topology->add_subcommand("set", "Replace the topology by that of a file");
  set->add_option("file", *file, "YAML file with `groups`; - reads stdin")->required();
  grammar.runners[set] = [file](Context& context) { return RunTopologySet(*file, context); };
}

Outcome RunTopologyShow(Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetTopologyResponse response,
                             context.client.GetTopology({}));
  PrintTopology(response, context);
  return ExitCode::kOk;
}

Outcome RunTopologySet(const std::string& file, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text,
                             ReadInputText(file, kMaxTopologyFileBytes, context.console));
  const absl::StatusOr<v1::Topology> topology = ParseTopology(text);
  if (!topology.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(file, ": ", topology.status().message()));
  }
  v1::SetTopologyRequest request;
  *request.mutable_topology() = *topology;
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::SetTopologyResponse response,
                             context.client.SetTopology(request));
  PrintTopology(response.topology(), context);
  for (const std::string& warning : response.warnings()) PrintNote(context.console, warning);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
