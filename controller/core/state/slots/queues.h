// Settings of queues, and the slots that their jobs hold.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_QUEUES_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_QUEUES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// Returns the settings of the queue: those that a user set, or the defaults.
v1::Queue QueueNamed(const ClusterState& state, const std::string& name);

// Returns true for the default queue and for queues with settings.
bool QueueExists(const ClusterState& state, const std::string& name);

// Returns the tier of the job's queue, and the job's priority. Only jobs of a lower level are
// preempted regardless of their size.
std::pair<int, int> LevelOf(const ClusterState& state, const v1::Job& job);

int SharesOf(const v1::Queue& queue);

// Returns the queue's quota of this kind. Has no limits if none is set.
v1::SlotQuota QuotaOf(const v1::Queue& queue, v1::DeviceKind kind);

// Returns the slots of this kind that the queue's jobs hold, or only those of one user.
int64_t HeldSlotsOf(const ClusterState& state, const UsageKey& key);

// Returns the slots that recovering jobs lack, because they have lost nodes, by queue and by user
// in the queue. These slots count towards the limits of a queue, so that no other job takes the
// place of a job that restarts.
std::map<UsageKey, int64_t> MissingSlots(const ClusterState& state);

// Returns the held slots and those that recovering jobs lack.
int64_t ClaimedSlotsOf(const ClusterState& state, const UsageKey& key);

// Returns the slots that a job of the class needs beyond those that it claims already: none for a
// recovering job.
int64_t FurtherSlotsOf(const ClusterState& state, const JobClass& job_class);

// Return true if the queue, or the user in the queue, may hold the slots of one more job of the
// class.
bool QueueMayTake(const ClusterState& state, const JobClass& job_class);
bool UserMayTake(const ClusterState& state, const JobClass& job_class);

// Returns true if the job goes before the order of the queues, because slots are kept for it: those
// of a recovering job, and those of jobs that were preempted for it.
bool PrecedesQueue(const ClusterState& state, int64_t job_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_SLOTS_QUEUES_H_
