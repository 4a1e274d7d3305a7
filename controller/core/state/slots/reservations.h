// Reservations. A reservation contains the slots that a recovering job keeps for its next attempt.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_RESERVATIONS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_RESERVATIONS_H_

#include <cstdint>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "proto/contract/attempt_key.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the reservation that contains this slot of the node, or nullptr. `position` is the slot's
// position in the inventory.
const Reservation* FindReservation(const ClusterState& state, const NodeEntry& node, int position);

// Reserves the slots of the job's newest attempt, which must have ended. Slots on nodes where the
// attempt is uncleared are not reserved yet; ReserveOn adds them when the node has confirmed the
// end.
void Reserve(const v1::Job& job, ClusterState& state);

// Adds the attempt's slots on the node to the job's reservation. The reservation must exist.
void ReserveOn(const AttemptKey& attempt, const NodeEntry& node, ClusterState& state);

// Removes a slot from the job's reservation.
void Unreserve(int64_t job_id, const std::string& node_id, int slot, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_RESERVATIONS_H_
