// Finds the rank that blocks a stalled gang, based on the flight records of its ranks.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_GROUP_WAIT_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_GROUP_WAIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/health.pb.h"

namespace trainyard::controller {

// A collective operation that some members of a group have joined and others have not.
struct GroupWait {
  std::string group;  // Name of the group, such as "dp0".
  std::string ranks;  // Members of the group, formatted by rank_set.h.
  int64_t sequence = 0;
  std::string operation;
  std::vector<int> waiting;  // Members that joined; ascending, as are the lists below.
  std::vector<int> missing;
  // The members that caused the wait: those in `missing` that do not wait in another group. If all
  // of them wait in other groups, all of `missing`.
  std::vector<int> culprits;
};

// Returns the wait that shows the cause. Returns nullopt if no rank of the attempt reports a wait,
// or if in each group all members have joined the same operation. `gang_size` is the number of
// ranks of the attempt. Ranks that are not below `gang_size` are ignored.
std::optional<GroupWait> FindGroupWait(const AttemptObservation& attempt, int gang_size);

// Returns, for example, "rank 2 has not reached all-reduce 17 of group dp0 (ranks 0-3); ranks
// 0-1,3 are waiting for it".
std::string GroupWaitText(const GroupWait& wait);

// Returns the finding `stalled`. Returns nullopt if the job is not running or has not stalled
// (stall.h), because ranks of a healthy gang with long steps also report waits. Until the step time
// is known, only the ranks' reports decide. If no rank reports a wait, as in programs without
// flight records, the finding names no rank.
std::optional<v1::HealthFinding> WhyStalled(const Observations& observations, const JobEntry& entry,
                                            Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_GROUP_WAIT_H_
