#include "cli/commands/server/check.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "cli/commands/server/controller_program.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

Listing StoreListing(const v1::CheckStoresResponse& response) {
  Listing listing;
  listing.columns = {{"STORE"}, {"SIZE", true}, {"CLUSTER", false, true}, {"RESULT"}};
  for (const v1::StoreCheck& store : response.stores()) {
    Row row;
    row.cells = {store.store(), BytesText(store.bytes()), TextOrNothing(store.cluster_id()),
                 store.problems().empty() ? "ok" : absl::StrJoin(store.problems(), "; ")};
    row.name = store.store();
    row.document = StableJson(store);
    row.document["ok"] = store.problems().empty();
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

Outcome CheckOnline(Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::CheckStoresResponse response,
                             context.client.CheckStores({}));
  PrintListing(StoreListing(response), context.format, context.console);
  const bool is_sound = std::ranges::all_of(
      response.stores(), [](const v1::StoreCheck& store) { return store.problems().empty(); });
  return is_sound ? ExitCode::kOk : ExitCode::kFailed;
}

}  // namespace

void AddServerCheck(CLI::App& server, Grammar& grammar) {
  const auto data_dir = std::make_shared<std::string>();
  CLI::App* command = server.add_subcommand(
      "check", "Verify every page of the store; exit 1 if any page is damaged");
  command->add_option("--data-dir", *data_dir,
                      "data directory of a stopped controller (default: ask the running one)");
  grammar.runners[command] = [data_dir](Context& context) {
    return RunServerCheck(*data_dir, context);
  };
}

Outcome RunServerCheck(const std::string& data_dir, Context& context) {
  if (data_dir.empty()) return CheckOnline(context);
  return RunControllerProgram(data_dir, {"check"}, context);
}

}  // namespace trainyard::cli
