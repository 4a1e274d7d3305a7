// URLs of webhooks. Pure.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_URL_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_URL_H_

#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller {

struct HookUrl {
  bool tls = false;
  // Name or numeric address; an IPv6 address without brackets.
  std::string host;
  std::string port;
  // Path and query.
  std::string target;

  // The host in URL syntax: an IPv6 address in brackets.
  std::string HostText() const;
};

// Parses "http://HOST[:PORT][/PATH][?QUERY]" or https. INVALID_ARGUMENT names the defect: an
// unknown scheme, a malformed host, a port outside 1 to 65535, a fragment, or user and password,
// which belong in the secret.
absl::StatusOr<HookUrl> ParseHookUrl(const std::string& text);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_URL_H_
