// The rank that blocks a stalled gang, according to the flight records of its ranks.
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

// A collective operation of a group that some members have joined and others have not.
struct GroupWait {
  std::string group;  // Name of the group, such as "dp0".
  std::string ranks;  // Members of the group, formatted by rank_set.h.
  int64_t sequence = 0;
  std::string operation;
  std::vector<int> waiting;  // Members that have joined. Ascending, like the lists below.
  std::vector<int> missing;
  // The cause: members of `missing` that wait in no other group. All of `missing` if every one of
  // them waits in another group.
  std::vector<int> culprits;
};

// The wait that shows the cause. nullopt if no rank of the attempt reports a wait, or if all
// members of each group have joined the same operation. `gang_size`: number of ranks of the
// attempt; other ranks named by programs are ignored.
std::optional<GroupWait> FindGroupWait(const AttemptObservation& attempt, int gang_size);

// "rank 2 is blocking the gang: has not joined all-reduce 17 of group dp0 (ranks 0-3), where ranks
// 0-1,3 wait".
std::string GroupWaitText(const GroupWait& wait);

// Reason with the code STALLED and the next step as advice. nullopt if the job is not running or
// has not stalled (stall.h): ranks of a healthy gang with long steps report waits, too. Until the
// step time is known, the ranks' reports alone decide.
std::optional<v1::PendingReason> WhyStalled(const Observations& observations, const JobEntry& entry,
                                            Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_GROUP_WAIT_H_
