// Waits until this controller leads. Until then, it serves as a standby.
#ifndef TRAINYARD_CONTROLLER_ELECTION_H_
#define TRAINYARD_CONTROLLER_ELECTION_H_

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "controller/controller_options.h"
#include "controller/store/support/leader_seat.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

struct ElectionHooks {
  // Opens the seat of this controller. UNAVAILABLE: the database cannot be reached; called again
  // later.
  std::function<absl::StatusOr<std::unique_ptr<LeaderSeat>>()> open_seat;
  // Waits for the given time. Returns true if the process was asked to stop.
  std::function<bool(std::chrono::milliseconds time)> stop_requested;
  // The number of the last event that the standby has applied (LogFollower). May be unset.
  std::function<int64_t()> position = nullptr;
  // The reason why this program must not take over; empty if it may. May be unset.
  std::function<std::string()> problem = nullptr;
  // Called with the addresses of gRPC and HTTP once the standby accepts calls. May be unset.
  std::function<void(const std::string& address, const std::string& http_address)> on_standby =
      nullptr;
};

// Returns the seat of this controller once it leads, and sets the listening addresses in `options`
// to those of the standby. Returns null if the process was asked to stop. While the database cannot
// be reached, the standby waits and reports the reason. Other errors end the wait.
absl::StatusOr<std::unique_ptr<LeaderSeat>> WaitToLead(const ElectionHooks& hooks,
                                                       const Clock& clock,
                                                       ControllerOptions& options);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ELECTION_H_
