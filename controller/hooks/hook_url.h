// URLs of webhooks. Pure.
#ifndef TRAINYARD_CONTROLLER_HOOKS_HOOK_URL_H_
#define TRAINYARD_CONTROLLER_HOOKS_HOOK_URL_H_

#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller {

struct HookUrl {
  bool tls = false;
  // Name or numeric address; an IPv6 address without its brackets.
  std::string host;
  std::string port;
  // Path and query.
  std::string target;

  // The host as a URL spells it: an IPv6 address in brackets.
  std::string HostText() const;
};

// "http://HOST[:PORT][/PATH][?QUERY]" or https. INVALID_ARGUMENT names what is wrong: another
// scheme, a host that is no name and no address, a port outside of 1 to 65535, a fragment, and a
// user or a password, which belong into the secret.
absl::StatusOr<HookUrl> ParseHookUrl(const std::string& text);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HOOKS_HOOK_URL_H_
