// Preemption: running jobs give their slots to a job that has waited long.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_PREEMPTION_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_PREEMPTION_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "controller/core/schedule/head_promise.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/preemption_limits.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// The assumed time that a restart costs if it has not been measured yet: the save, the start, and
// the steps after the save.
inline constexpr int64_t kUnknownRestartMs = 120'000;

// Returns the time that a restart of the job costs: its newest pause or yield, from the request to
// the end of the attempt, plus its longest earlier start. kUnknownRestartMs if one of them is not
// known.
int64_t RestartCostMs(const v1::Job& job);

// Running jobs to preempt, and the nodes on which the head is expected to start. An elastic job of
// the list may keep its other nodes.
struct Victims {
  std::vector<int64_t> job_ids;
  std::set<std::string> nodes;
};

// Returns running jobs whose slots, together with free slots, suffice for the waiting job `head`,
// or an empty list. `releases` is that of ReleasesOf, for the nodes that the head can use now. The
// list is minimal: without any one of its jobs, the slots would not suffice. It is the cheapest
// found, where a job costs (time since its newest checkpoint + restart) x slots.
//
// A running job may be preempted
// - if its queue has a lower tier, or the same tier and the job a lower priority; or
// - if tier and priority are equal, the head requests whole nodes, and the running job has at most
//   half a node and loses almost no work when it stops. Small jobs find other slots soon, but as
//   long as they are spread over the nodes, no node becomes free for a large gang.
Victims JobsToPreempt(const ClusterState& state, const JobEntry& head, const Releases& releases,
                      const PreemptionLimits& limits, Timestamp now);

// Returns false if no running job may be preempted for the head. Cheaper than JobsToPreempt.
bool AnyMayYieldTo(const ClusterState& state, const JobEntry& head, const PreemptionLimits& limits,
                   Timestamp now);

// Returns the cost by which JobsToPreempt compares sets of jobs.
int64_t CostOfPreemption(const ClusterState& state, const std::vector<int64_t>& job_ids,
                         Timestamp now);

// Returns true while a job that was preempted for this job still has its slots, for example because
// it saves.
bool AnyYieldsFor(const ClusterState& state, int64_t job_id);

// Explains a preemption to the user of the preempted job, for example: "large-run (#12) has waited
// 15 min for 4 nodes with 8 gpu slots each".
std::string PreemptionText(const ClusterState& state, int64_t for_job_id, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_PREEMPTION_H_
