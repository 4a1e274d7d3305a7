#include "controller/access/listener_rule.h"

#include "absl/strings/str_cat.h"
#include "proto/access/address.h"

namespace trainyard::controller {
namespace {

// Returns the protection that the listener lacks. Empty if it lacks none.
std::string Lack(const ListenerSetting& setting) {
  if (!IsReachableFromOutside(setting.address)) return "";
  if (!setting.has_token) {
    return "anyone who can reach this address has full access, because no token is required";
  }
  return setting.has_tls ? "" : "tokens and data cross the network unencrypted, because TLS is off";
}

}  // namespace

bool IsReachableFromOutside(const std::string& address) {
  const auto where = SplitAddress(address);
  return !where.has_value() || !IsLoopback(where->host);
}

absl::Status CheckListener(const ListenerSetting& setting) {
  const std::string lack = Lack(setting);
  if (lack.empty() || setting.insecure) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      setting.flag, " ", setting.address, " can be reached from other machines, and ", lack,
      "; set a certificate with --tls-cert and --tls-key (deploy/README.md), listen on ",
      "127.0.0.1, or pass --insecure only on a trusted network"));
}

std::string DangerOf(const ListenerSetting& setting) {
  const std::string lack = Lack(setting);
  return lack.empty() ? "" : absl::StrCat("INSECURE: ", setting.address, ": ", lack);
}

}  // namespace trainyard::controller
