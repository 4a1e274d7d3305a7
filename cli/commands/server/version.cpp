#include "cli/commands/server/version.h"

#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/output/files/stable_json.h"

namespace trainyard::cli {

void AddVersion(CLI::App& parent, Grammar& grammar) {
  const auto client_only = std::make_shared<bool>(false);
  CLI::App* command =
      parent.add_subcommand("version", "Show the versions of this program and the controller");
  command->add_flag("--client", *client_only, "do not contact the controller");
  grammar.runners[command] = [client_only](Context& context) {
    return RunVersion(*client_only, context);
  };
}

// Succeeds even without a controller, because the version of this program is always known.
Outcome RunVersion(bool client_only, Context& context) {
  absl::StatusOr<v1::GetServerInfoResponse> info =
      absl::UnavailableError("the controller was not contacted");
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
