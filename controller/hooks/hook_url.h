// Parses webhook URLs. Has no side effects.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_URL_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_URL_H_

#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller {

struct HookUrl {
  bool tls = false;
  // A name or a numeric address. An IPv6 address has no brackets.
  std::string host;
  std::string port;
  // Path and query.
  std::string target;

  // Returns the host as it appears in a URL, with an IPv6 address in brackets.
  std::string HostText() const;
};

// Parses "http://HOST[:PORT][/PATH][?QUERY]", or an https URL of this form. INVALID_ARGUMENT: the
// message names the defect, such as an unknown scheme, a malformed host, a port outside 1 to 65535,
// a fragment, or a user name and password (use the hook's secret instead).
absl::StatusOr<HookUrl> ParseHookUrl(const std::string& text);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_URL_H_
