// The rule for listening addresses: reachable from other machines only with a token and TLS, unless
// the operator passes --insecure.
#ifndef TRAINYARD_CONTROLLER_ACCESS_LISTENER_RULE_H_
#define TRAINYARD_CONTROLLER_ACCESS_LISTENER_RULE_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard::controller {

struct ListenerSetting {
  // Flag that set the address, such as "--listen".
  std::string flag;
  // HOST:PORT.
  std::string address;
  bool has_token = false;
  bool has_tls = false;
  bool insecure = false;
};

// FAILED_PRECONDITION: other machines could use this listener without a token, or read its traffic.
absl::Status CheckListener(const ListenerSetting& setting);

// The danger allowed by --insecure, as one sentence for log, command line and page; empty if there
// is none.
std::string DangerOf(const ListenerSetting& setting);

// True if other machines can reach this address. Text that is not an address counts as reachable.
bool IsReachableFromOutside(const std::string& address);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_LISTENER_RULE_H_
