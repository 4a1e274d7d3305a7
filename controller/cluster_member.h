// One of several controllers on one PostgreSQL database: first a standby, then the leader.
#ifndef TRAINYARD_CONTROLLER_CLUSTER_MEMBER_H_
#define TRAINYARD_CONTROLLER_CLUSTER_MEMBER_H_

#include <chrono>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "controller/controller.h"
#include "controller/controller_options.h"
#include "controller/loop/leader_guard.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

struct ClusterMember {
  // Declared first and therefore destroyed last: a standby may take over only after the controller
  // has stopped.
  std::unique_ptr<LeaderGuard> guard;
  // Null if the process was asked to stop before it led.
  std::unique_ptr<Controller> controller;
};

struct MemberHooks {
  // See ElectionHooks::stop_requested.
  std::function<bool(std::chrono::milliseconds time)> stop_requested;
  // See the constructor of LeaderGuard.
  LeaderGuard::OnHandOver on_hand_over;
};

// Waits until this controller leads, then starts it with the term of its leadership. If the
// leadership is lost later, the process ends with kExitLeadershipLost. Errors: those of WaitToLead
// and Controller::Start.
absl::StatusOr<ClusterMember> StartMember(const ControllerOptions& options, const Clock& clock,
                                          MemberHooks hooks);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CLUSTER_MEMBER_H_
