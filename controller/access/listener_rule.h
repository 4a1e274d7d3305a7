// Checks listening addresses. A listener that other machines can reach must use a token and TLS,
// unless the operator passes --insecure.
#ifndef TRAINYARD_CONTROLLER_ACCESS_LISTENER_RULE_H_
#define TRAINYARD_CONTROLLER_ACCESS_LISTENER_RULE_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard::controller {

struct ListenerSetting {
  // The flag that set the address, such as "--listen".
  std::string flag;
  // HOST:PORT.
  std::string address;
  bool has_token = false;
  bool has_tls = false;
  bool insecure = false;
};

// FAILED_PRECONDITION: other machines could use this listener without a token, or read its traffic.
absl::Status CheckListener(const ListenerSetting& setting);

// Returns one sentence about the risk that --insecure allows, for the log, the command line and the
// dashboard. Empty if there is no risk.
std::string DangerOf(const ListenerSetting& setting);

// Returns true if other machines can reach this address, or if the text is not an address.
bool IsReachableFromOutside(const std::string& address);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_LISTENER_RULE_H_
