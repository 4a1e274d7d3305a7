// The rule for addresses that the controller listens on: beyond this machine only with a token and
// TLS, unless the operator writes that the danger is wanted.
#ifndef TRAINYARD_CONTROLLER_ACCESS_LISTENER_RULE_H_
#define TRAINYARD_CONTROLLER_ACCESS_LISTENER_RULE_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard::controller {

struct ListenerSetting {
  // Flag that the address came from, such as "--listen".
  std::string flag;
  // HOST:PORT.
  std::string address;
  bool has_token = false;
  bool has_tls = false;
  bool insecure = false;
};

// FAILED_PRECONDITION: other machines could reach this listener without a token, or read it.
absl::Status CheckListener(const ListenerSetting& setting);

// The danger that --insecure allowed, as one sentence for log, command line and page; empty when
// there is none.
std::string DangerOf(const ListenerSetting& setting);

// True when other machines can reach this address. Text that is no address counts as reachable.
bool IsReachableFromOutside(const std::string& address);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_LISTENER_RULE_H_
