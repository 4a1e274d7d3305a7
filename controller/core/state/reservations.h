// Reservations: slots that recovering jobs keep for their next attempts.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_RESERVATIONS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_RESERVATIONS_H_

#include <cstdint>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "proto/contract/attempt_key.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The reservation that includes this slot of the node, or nullptr. `position`: position of the slot
// in the inventory.
const Reservation* FindReservation(const ClusterState& state, const NodeEntry& node, int position);

// Reserves the slots of the job's newest attempt, which has ended. Slots on nodes where it is
// uncleared are left out: ReserveOn adds them when the node is cleared.
void Reserve(const v1::Job& job, ClusterState& state);

// Adds the attempt's slots on the node to the job's reservation, which must exist.
void ReserveOn(const AttemptKey& attempt, const NodeEntry& node, ClusterState& state);

// Removes a slot from the job's reservation.
void Unreserve(int64_t job_id, const std::string& node_id, int slot, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_RESERVATIONS_H_
