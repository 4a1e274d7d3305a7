// Keeps track of the attempt that has each slot, and maintains the indexes derived from the slots.
// Used only by Apply and FromSnapshot.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_SLOT_LEDGER_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_SLOT_LEDGER_H_

#include <functional>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "proto/contract/attempt_key.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Calls `edit` on the node and updates the node indexes. The node must exist.
void EditNode(const std::string& node_id, const std::function<void(NodeEntry&)>& edit,
              ClusterState& state);

// Assigns slots to the members of a new attempt. It is a bug if a slot is neither free nor reserved
// by a recovering job.
void TakeSlots(int64_t job_id, const v1::Attempt& attempt, ClusterState& state);

// Frees the slots of an ended attempt on the nodes that confirmed the end of its ranks.
void ReleaseSlots(int64_t job_id, const v1::Attempt& attempt, ClusterState& state);

// Frees the attempt's slots on one node, unless the attempt is uncleared on that node. The attempt
// may still be live.
void ReleaseSlotsOn(int64_t job_id, const v1::Attempt& attempt, const std::string& node_id,
                    ClusterState& state);

// Marks an ended attempt as uncleared on a node where it still has a slot.
void MarkUncleared(const AttemptKey& key, const std::string& node_id, ClusterState& state);

// Records the node's confirmation that no process of the attempt runs there. If `reserved` is true,
// the job keeps the slots.
void MarkCleared(const AttemptKey& key, const std::string& node_id, bool reserved,
                 ClusterState& state);

// Replaces the node's description with the description that its worker sent. If a slot no longer
// exists, its use is removed.
void ReplaceNode(const v1::Node& joined, ClusterState& state);

// Adds the changes of held slots since the last call to state.usages. `now` is the time of the
// event that caused them.
void SettleUsages(Timestamp now, ClusterState& state);

// Rebuilds every index from jobs and nodes.
void RebuildIndexes(ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_SLOT_LEDGER_H_
