#include "cli/commands/nodes/doctor.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

Row CheckRow(const std::string& machine, const v1::NodeCheck& check) {
  Row row;
  row.cells = {machine, check.name(), check.ok() ? "ok" : "FAILED", check.found(),
               TextOrNothing(check.advice())};
  row.name = absl::StrCat(machine, "/", check.name());
  row.document = StableJson(check);
  row.document["node"] = machine;
  return row;
}

Listing CheckListing(const v1::CheckNodesResponse& response) {
  Listing listing;
  listing.columns = {{"NODE", false, false, true},
                     {"CHECK"},
                     {"RESULT"},
                     {"FOUND", false, false, true, kReasonWidth},
                     {"NEXT STEP", false, false, true, kReasonWidth}};
  for (const v1::NodeCheck& check : response.controller()) {
    listing.rows.push_back(CheckRow("controller", check));
  }
  for (const v1::NodeChecks& node : response.nodes()) {
    for (const v1::NodeCheck& check : node.checks()) {
      listing.rows.push_back(CheckRow(node.name(), check));
    }
  }
  return listing;
}

int Failures(const Listing& listing) {
  return static_cast<int>(std::ranges::count_if(
      listing.rows, [](const Row& row) { return !row.document.value("ok", false); }));
}

}  // namespace

void AddDoctor(CLI::App& parent, Grammar& grammar) {
  CLI::App* command = parent.add_subcommand("doctor", "Check every node; exit 1 if a check fails");
  grammar.runners[command] = [](Context& context) { return RunDoctor(context); };
}

Outcome RunDoctor(Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::CheckNodesResponse response, context.client.CheckNodes({}));
  const Listing listing = CheckListing(response);
  PrintListing(listing, context.format, context.console);
  const int failures = Failures(listing);
  for (const v1::NodeChecks& node : response.nodes()) {
    if (node.checked_ms() != 0) continue;
    PrintNote(context.console,
              absl::StrCat("node ", node.name(), " has not reported any checks yet"));
  }
  if (IsTable(context.format)) {
    PrintNote(context.console, failures == 0
                                   ? absl::StrCat(listing.rows.size(), " checks, none failed")
                                   : absl::StrCat(failures, " of ", listing.rows.size(),
                                                  " checks failed; see the column NEXT STEP"));
  }
  return failures == 0 ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace trainyard::cli
