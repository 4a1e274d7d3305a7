// The controller daemon's top-level object: it owns every part, in the order of dependency.
#ifndef TRAINYARD_CONTROLLER_CONTROLLER_H_
#define TRAINYARD_CONTROLLER_CONTROLLER_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/access/server_credentials.h"
#include "controller/hooks/hook_rules.h"
#include "controller/http/dashboard.h"
#include "controller/loop.h"
#include "controller/retention/pruner.h"
#include "controller/store/stores.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

struct ControllerOptions {
  // "host:port"; port 0 picks a free one.
  std::string listen = "127.0.0.1:7070";
  std::string data_dir;
  // Empty: <data_dir>/checkpoints. Made absolute.
  std::string checkpoint_root;
  LoopOptions loop;
  // Rules of retention, and the pace of their thread; its directories are set from the above.
  PrunerOptions retention;
  // Webhooks and command hooks.
  std::vector<HookRule> hooks;
  // REST, event stream and dashboard; off when its address is empty.
  http::DashboardOptions http;
  // The token that every caller must prove; empty: everybody may do everything.
  std::string token;
  // File of the token. The local socket lies beside it; empty: no local socket.
  std::string token_file;
  // The group of the process may use the local socket.
  bool token_for_group = false;
  TlsIdentity tls;
  // Listeners that other machines reach may lack token or TLS; everybody is told so.
  bool insecure = false;
};

class Controller {
 public:
  // Locks and opens the data directory, replays the event log and serves. The message of an error
  // says what to do. `clock` outlives the controller.
  static absl::StatusOr<std::unique_ptr<Controller>> Start(const ControllerOptions& options,
                                                           const Clock& clock);

  // The same on stores that are open already; `data_dir` is only reported then.
  static absl::StatusOr<std::unique_ptr<Controller>> StartOn(Stores stores,
                                                             const ControllerOptions& options,
                                                             const Clock& clock);

  // Stops.
  ~Controller();

  // Stops and destroys the controller, or ends the process with exit status 0 when that takes
  // longer than `limit`: a running query or a disk that hangs must not delay the end of the
  // process. Nothing is lost then: all that was acknowledged is durable, and workers keep the rest.
  static void StopWithin(std::chrono::milliseconds limit, std::unique_ptr<Controller> controller);

  // "host:port" with the real port.
  const std::string& address() const;
  // The same of the HTTP side; empty when it is off.
  std::string http_address() const;

  // Ends every stream, commits what has come in, and stops all threads. Running jobs go on: their
  // workers attach again when a controller is back.
  void Stop();

 private:
  struct Parts;

  explicit Controller(std::unique_ptr<Parts> parts);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CONTROLLER_H_
