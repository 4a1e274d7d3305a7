// The command dashboard.
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/commands.h"
#include "cli/output/readable.h"
#include "proto/access/address.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// "https://HOST:PORT/login?code=...": the host is the one under which this program reaches the
// controller.
absl::StatusOr<std::string> LoginUrl(const std::string& server,
                                     const v1::CreateLoginCodeResponse& login) {
  const auto where = SplitAddress(server);
  if (!where.has_value()) return absl::InvalidArgumentError("the controller's address has no port");
  const bool is_six = where->host.find(':') != std::string::npos;
  return absl::StrCat(login.tls() ? "https://" : "http://",
                      is_six ? absl::StrCat("[", where->host, "]") : where->host, ":",
                      login.http_port(), login.path());
}

}  // namespace

Outcome RunDashboard(Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::CreateLoginCodeResponse login,
                             context.client.CreateLoginCode({}));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string url, LoginUrl(context.client.server(), login));
  if (!IsTable(context.format)) {
    PrintDocument({{"url", url}, {"expires", IsoTime(login.expires_ms())}}, url, context.format,
                  context.console);
    return ExitCode::kOk;
  }
  *context.console.out << url << "\n";
  PrintNote(context.console,
            "opens the dashboard once, within 5 minutes; the browser then stays logged in for 30 "
            "days");
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
