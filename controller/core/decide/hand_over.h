// Planned hand-overs of the leadership to a standby.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_HAND_OVER_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_HAND_OVER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/requests/requests.h"
#include "controller/core/support/standby_report.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {

// The controllers on one store, as the leader sees them.
struct ControllerGroup {
  std::string leader;  // Address of this leader.
  // False if the store is in files, which have only one controller.
  bool can_have_standbys = false;
  std::vector<StandbyReport> standbys;
};

// Returns the address of the standby to which the leader hands over. FAILED_PRECONDITION: no
// standby is ready, the named one is not ready or no standby, the store is in files, or
// `request.from` does not lead. INVALID_ARGUMENT: an address is too long.
absl::StatusOr<std::string> ChooseSuccessor(const ControllerGroup& group,
                                            const v1::HandOverRequest& request);

// Returns LeadershipHandedOver.
std::vector<v1::Event> DecideHandOver(const RecordHandOver& request, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_HAND_OVER_H_
