// Settings of the controller daemon.
#ifndef TRAINYARD_CONTROLLER_CONTROLLER_OPTIONS_H_
#define TRAINYARD_CONTROLLER_CONTROLLER_OPTIONS_H_

#include <string>
#include <vector>

#include "controller/access/server_credentials.h"
#include "controller/hooks/hook_rules.h"
#include "controller/http/dashboard.h"
#include "controller/loop.h"
#include "controller/retention/pruner.h"

namespace trainyard::controller {

struct ControllerOptions {
  // "host:port"; port 0 picks a free one.
  std::string listen = "127.0.0.1:7070";
  std::string data_dir;
  // Empty: <data_dir>/checkpoints. Made absolute.
  std::string checkpoint_root;
  LoopOptions loop;
  // Retention rules and the pace of the pruner thread. The directories are derived from the fields
  // above.
  PrunerOptions retention;
  // Webhooks and command hooks.
  std::vector<HookRule> hooks;
  // REST, event stream and dashboard; off when its address is empty.
  http::DashboardOptions http;
  // Token that every caller must prove. Empty: no access control.
  std::string token;
  // Token file. The local socket is created in the same directory. Empty: no local socket.
  std::string token_file;
  // Lets the group of the process use the local socket.
  bool token_for_group = false;
  TlsIdentity tls;
  // Allows listeners reachable from other machines without token or TLS. A warning is then shown to
  // all users.
  bool insecure = false;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CONTROLLER_OPTIONS_H_
