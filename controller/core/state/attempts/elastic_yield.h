// Yields of elastic jobs. An elastic job that can continue on a part of its nodes keeps their slots
// while it saves, and its next attempt starts without waiting in the queue.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_ELASTIC_YIELD_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_ELASTIC_YIELD_H_

#include <set>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Records in `yield` the nodes that an elastic job keeps if it gives up the nodes `given_up`. No
// node is recorded if the job is not elastic, or if the kept nodes are fewer than its minimum.
// `entry` must have a live attempt.
void KeepOtherNodes(const JobEntry& entry, const std::set<std::string>& given_up, v1::Yield& yield);

// Returns true if the attempt keeps its slots on the node when it ends.
bool KeepsNode(const v1::Attempt& attempt, const std::string& node_id);

// Returns true if the newest attempt gave nodes to another job and kept the rest. The job continues
// on the nodes that it kept and takes no free ones, because the other job needs them.
bool ShrinksForOther(const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_ELASTIC_YIELD_H_
