// A gang in which some ranks have exited with 0 while others still run.
#ifndef TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LEFT_RANKS_H_
#define TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LEFT_RANKS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/core/observations/group_wait.h"
#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Places whose member exited with 0. The entry must have a live attempt.
std::set<int> PlacesLeft(const JobEntry& entry);

// True if every rank's steps are so long that all ranks of a healthy gang report the same step or
// neighbouring steps. A rank writes its step at most once per second.
bool HasDistinctSteps(const AttemptObservation& attempt);

struct LeftRanks {
  std::vector<int> left;  // Ascending, like `staying` and `culprits`.
  std::vector<int> staying;
  // Operation in which the staying ranks wait, according to their flight records.
  std::optional<GroupWait> wait;
  // Ranks that block the gang: those that left before the step that the others wait for, else those
  // that stay.
  std::vector<int> culprits;
  bool left_early = false;
};

// nullopt if no rank, or every rank, has exited with 0.
std::optional<LeftRanks> FindLeftRanks(const AttemptObservation& attempt, const JobEntry& entry);

// "rank 2 exited with 0 at step 41 while ranks 0,1,3 wait in all-reduce 42 of group dp0", "rank 0
// exited with 0 at step 10 while rank 1 still runs (step 10, train)".
std::string LeftRanksText(const AttemptObservation& attempt, const LeftRanks& ranks);

// Reason with the code STALLED for a running job, some seconds after a rank exited with 0 while
// others stay.
std::optional<v1::PendingReason> WhyRanksStay(const Observations& observations,
                                              const JobEntry& entry, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LEFT_RANKS_H_
