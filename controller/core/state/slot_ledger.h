// Holders of slots, and the indexes that follow from them. Used by Apply and FromSnapshot only.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_SLOT_LEDGER_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_SLOT_LEDGER_H_

#include <functional>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "controller/core/support/attempt_key.h"

namespace trainyard::controller {

// Runs `edit` on the node and brings the indexes of nodes up to date. The node must exist.
void EditNode(const std::string& node_id, const std::function<void(NodeEntry&)>& edit,
              ClusterState& state);

// Gives the slots of a new attempt to its ranks. A slot that is neither free nor reserved by a
// pending job is a bug.
void TakeSlots(int64_t job_id, const v1::Attempt& attempt, ClusterState& state);

// Frees the slots that an ended attempt holds on nodes that have confirmed that its ranks are gone.
void ReleaseSlots(int64_t job_id, const v1::Attempt& attempt, ClusterState& state);

// The same on one node, also while the attempt lives.
void ReleaseSlotsOn(int64_t job_id, const v1::Attempt& attempt, const std::string& node_id,
                    ClusterState& state);

// Marks an ended attempt as not cleared on a node where it still holds a slot.
void MarkUncleared(const AttemptKey& key, const std::string& node_id, ClusterState& state);

// Records that a node confirmed that nothing of the attempt runs there. `reserved`: the job keeps
// the slots.
void MarkCleared(const AttemptKey& key, const std::string& node_id, bool reserved,
                 ClusterState& state);

// Replaces the description of a node by the one that its worker sent. Uses of slots that no longer
// exist are dropped.
void ReplaceNode(const v1::Node& joined, ClusterState& state);

// Fills every index from jobs and nodes.
void RebuildIndexes(ClusterState& state);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_SLOT_LEDGER_H_
