#include "cli/commands/server/dashboard.h"

#include <ostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/access/address.h"
#include "proto/support/status_macros.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

// Returns "https://HOST:PORT/login#code=...", where HOST is the host by which this program reaches
// the controller.
absl::StatusOr<std::string> LoginUrl(const std::string& server,
                                     const v1::CreateLoginCodeResponse& login) {
  const auto where = SplitAddress(server);
  if (!where.has_value()) return absl::InvalidArgumentError("the controller's address has no port");
  const bool is_six = where->host.find(':') != std::string::npos;
  return absl::StrCat(login.tls() ? "https://" : "http://",
                      is_six ? absl::StrCat("[", where->host, "]") : where->host, ":",
                      login.http_port(), login.path());
}

// Returns a text such as "after 12h00m of inactivity, and at the latest after 7d00h"; "" if the
// controller is too old to report these times.
std::string SessionEnd(const v1::CreateLoginCodeResponse& login) {
  if (login.session_idle_ms() == 0) return "";
  return absl::StrCat("; the session ends after ", ShortDuration(login.session_idle_ms()),
                      " of inactivity, and at the latest after ",
                      ShortDuration(login.session_max_ms()));
}

}  // namespace

void AddDashboard(CLI::App& parent, Grammar& grammar) {
  CLI::App* command = parent.add_subcommand("dashboard", "Print a login URL of the dashboard");
  grammar.runners[command] = [](Context& context) { return RunDashboard(context); };
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
            absl::StrCat("the URL works once, within 5 minutes", SessionEnd(login)));
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
