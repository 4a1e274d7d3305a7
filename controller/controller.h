// The controller daemon's top-level object. It owns every part, in dependency order.
#ifndef TRAINYARD_CONTROLLER_CONTROLLER_H_
#define TRAINYARD_CONTROLLER_CONTROLLER_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "controller/controller_options.h"
#include "controller/store/stores.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

class Controller {
 public:
  // Locks and opens the data directory, replays the event log and starts serving. Error messages
  // name the next step for the operator. `clock` must outlive the controller.
  static absl::StatusOr<std::unique_ptr<Controller>> Start(const ControllerOptions& options,
                                                           const Clock& clock);

  // Works like Start, but uses stores that are already open. `data_dir` is only reported to
  // clients.
  static absl::StatusOr<std::unique_ptr<Controller>> StartOn(Stores stores,
                                                             const ControllerOptions& options,
                                                             const Clock& clock);

  // Stops.
  ~Controller();

  // Stops and destroys the controller. If stopping takes longer than `limit`, ends the process with
  // exit status 0, so that a long query or a hung disk cannot delay the exit. No data is lost:
  // acknowledged data is durable, and workers keep all other data.
  static void StopWithin(std::chrono::milliseconds limit, std::unique_ptr<Controller> controller);

  // "host:port" with the actual port.
  const std::string& address() const;
  // "host:port" of the HTTP listener; empty if HTTP is off.
  std::string http_address() const;

  // Ends every stream, commits the requests received so far, and stops all threads. Running jobs
  // continue. Their workers reconnect to the next controller process.
  void Stop();

  // Only ends every stream and call, commits the requests received so far, and stores the received
  // telemetry. Calls that are still open after `grace` are canceled. The process must end
  // afterwards, without destroying the controller, because the other threads still run.
  void EndService(std::chrono::milliseconds grace);

 private:
  struct Parts;

  explicit Controller(std::unique_ptr<Parts> parts);

  // Calls that are still open after `grace` are canceled.
  void EndCalls(std::chrono::milliseconds grace);
  void SaveSessions();

  const std::unique_ptr<Parts> parts_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CONTROLLER_H_
