// The slots of all nodes in one list (ClusterState::slot_rows).
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_SLOT_ROWS_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_SLOT_ROWS_H_

#include <string>

#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// Sets the row of the node, whose holders must be up to date.
void SetSlotRow(const NodeEntry& entry, ClusterState& state);

// Removes the row of a node that is being removed.
void RemoveSlotRow(const std::string& node_id, ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_SLOT_ROWS_H_
