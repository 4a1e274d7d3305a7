// The commands dashboard and server sessions.
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "cli/output/answered_at.h"
#include "cli/output/readable.h"
#include "cli/output/stable_json.h"
#include "proto/access/address.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// "https://HOST:PORT/login#code=...", with the host that this program uses to reach the controller.
absl::StatusOr<std::string> LoginUrl(const std::string& server,
                                     const v1::CreateLoginCodeResponse& login) {
  const auto where = SplitAddress(server);
  if (!where.has_value()) return absl::InvalidArgumentError("the controller's address has no port");
  const bool is_six = where->host.find(':') != std::string::npos;
  return absl::StrCat(login.tls() ? "https://" : "http://",
                      is_six ? absl::StrCat("[", where->host, "]") : where->host, ":",
                      login.http_port(), login.path());
}

// "after 12h00m without use, and at the latest after 7d00h"; empty for an older controller.
std::string SessionEnd(const v1::CreateLoginCodeResponse& login) {
  if (login.session_idle_ms() == 0) return "";
  return absl::StrCat("; the session ends after ", DurationText(login.session_idle_ms()),
                      " without use, and at the latest after ",
                      DurationText(login.session_max_ms()));
}

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
                 DurationText(session.expires_ms() - now)};
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

Outcome RunServerSessions(const SessionsOptions& options, Context& context) {
  if (options.end_all || !options.ended_ids.empty()) return EndSessions(options, context);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListSessionsResponse response,
                             context.client.ListSessions({}));
  PrintListing(SessionListing(response, AnsweredAt(response, context.console)), context.format,
               context.console);
  return ExitCode::kOk;
}

Outcome RunDashboard(Context& context) {
  v1::CreateLoginCodeRequest request;
  request.set_user(context.environment.user);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::CreateLoginCodeResponse login,
                             context.client.CreateLoginCode(request));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string url, LoginUrl(context.client.server(), login));
  if (!IsTable(context.format)) {
    PrintDocument({{"url", url}, {"expires", IsoTime(login.expires_ms())}}, url, context.format,
                  context.console);
    return ExitCode::kOk;
  }
  *context.console.out << url << "\n";
  PrintNote(context.console,
            absl::StrCat("opens the dashboard once, within 5 minutes", SessionEnd(login)));
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
