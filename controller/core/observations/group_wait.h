// The rank that keeps a stalled gang waiting, by the flight records of its ranks.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_GROUP_WAIT_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_GROUP_WAIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// An operation of a group to which some members have come and others have not.
struct GroupWait {
  std::string group;  // Such as "tp4".
  std::string ranks;  // Its members, as rank_set.h writes them.
  int64_t sequence = 0;
  std::string operation;
  std::vector<int> waiting;  // Ascending, as are all below.
  std::vector<int> missing;
  // Those of `missing` that wait in no other group: the cause. All of `missing` where every one of
  // them waits elsewhere.
  std::vector<int> culprits;
};

// The wait that names the cause; nullopt while no rank of the attempt says that it is stalled, or
// all of a group have come to the same operation. `gang_size`: ranks of the attempt; what programs
// say of others is left out.
std::optional<GroupWait> FindGroupWait(const AttemptObservation& attempt, int gang_size);

// "rank 2 keeps the gang waiting: not come to all-reduce 17 of group dp0 (ranks 0-3), where ranks
// 0-1,3 wait".
std::string GroupWaitText(const GroupWait& wait);

// Code STALLED with the next step as advice. Nothing for a job that does not run, or that has not
// stalled (stall.h): ranks of a gang with long steps write where they wait too. Before it is known
// how long a step takes, their word counts.
std::optional<v1::PendingReason> WhyStalled(const Observations& observations, const JobEntry& entry,
                                            Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_GROUP_WAIT_H_
