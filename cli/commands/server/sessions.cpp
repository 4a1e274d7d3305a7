#include "cli/commands/server/sessions.h"

#include <memory>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/answered_at.h"
#include "cli/output/terminal/readable.h"
#include "proto/support/status_macros.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

Listing SessionListing(const v1::ListSessionsResponse& response, Timestamp now) {
  Listing listing;
  listing.columns = {{"ID"},        {"USER", false, false, true}, {"OPENED"},
                     {"LAST USED"}, {"FROM", false, false, true}, {"ENDS IN"}};
  for (const v1::Session& session : response.sessions()) {
    Row row;
    row.cells = {session.id(),
                 TextOrNothing(session.user()),
                 AgoText(session.opened_ms(), now),
                 AgoText(session.used_ms(), now),
                 TextOrNothing(session.address()),
                 ShortDuration(session.expires_ms() - now)};
    row.exact_cells = {session.id(),
                       session.user(),
                       IsoTime(session.opened_ms()),
                       IsoTime(session.used_ms()),
                       session.address(),
                       IsoTime(session.expires_ms())};
    row.name = session.id();
    row.document = StableJson(session);
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

Outcome EndSessions(const SessionsOptions& options, Context& context) {
  v1::EndSessionsRequest request;
  request.set_all(options.end_all);
  for (const std::string& id : options.ended_ids) request.add_ids(id);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::EndSessionsResponse response,
                             context.client.EndSessions(request));
  if (IsTable(context.format)) {
    *context.console.out << response.ended() << (response.ended() == 1 ? " session" : " sessions")
                         << " ended\n";
  } else {
    PrintDocument({{"ended", response.ended()}}, absl::StrCat(response.ended()), context.format,
                  context.console);
  }
  return ExitCode::kOk;
}

}  // namespace

void AddServerSessions(CLI::App& server, Grammar& grammar) {
  const auto options = std::make_shared<SessionsOptions>();
  CLI::App* command = server.add_subcommand("sessions", "List or end dashboard sessions");
  CLI::Option* end = command->add_option("--end", options->ended_ids,
                                         "end the session with this ID; may be repeated");
  end->allow_extra_args(false)->type_name("ID");
  command->add_flag("--end-all", options->end_all, "end all sessions")->excludes(end);
  grammar.runners[command] = [options](Context& context) {
    return RunServerSessions(*options, context);
  };
}

Outcome RunServerSessions(const SessionsOptions& options, Context& context) {
  if (options.end_all || !options.ended_ids.empty()) return EndSessions(options, context);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListSessionsResponse response,
                             context.client.ListSessions({}));
  PrintListing(SessionListing(response, AnsweredAt(response, context.console)), context.format,
               context.console);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
