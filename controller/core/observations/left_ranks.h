// Describes a gang in which some ranks have exited with 0 while others still run.
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
#include "trainyard/v1/health.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the places whose member exited with 0. The entry must have a live attempt.
std::set<int> PlacesLeft(const JobEntry& entry);

// Returns true if the steps of every rank are so long that the ranks of a healthy gang always
// report the same step or adjacent steps. A rank writes its step at most once per second.
bool HasDistinctSteps(const AttemptObservation& attempt);

struct LeftRanks {
  std::vector<int> left;  // In ascending order, as are `staying` and `culprits`.
  std::vector<int> staying;
  // The operation in which the staying ranks wait, according to their flight records.
  std::optional<GroupWait> wait;
  // The ranks that block the gang: those in `left` that left before the step for which the other
  // ranks wait.
  // If there are none, all of `staying`.
  std::vector<int> culprits;
  bool left_early = false;
};

// Returns nullopt if no rank has exited with 0, or if every rank has.
std::optional<LeftRanks> FindLeftRanks(const AttemptObservation& attempt, const JobEntry& entry);

// Returns, for example, "rank 2 exited with 0 at step 41 while ranks 0,1,3 wait in all-reduce 42 of
// group dp0" or "rank 0 exited with 0 at step 10 while rank 1 still runs (step 10, train)".
std::string LeftRanksText(const AttemptObservation& attempt, const LeftRanks& ranks);

// Returns the probable reason, for example "; probably the data of rank 2 ended early (uneven
// data)" or "; probably rank 1 stalled after the last step". If the reports allow both reasons,
// names both. Empty while the staying ranks save or evaluate, because that may take long.
std::string LeftRanksReason(const AttemptObservation& attempt, const v1::Job& job,
                            const LeftRanks& ranks);

// Describes the exits alone, for example "rank 2 exited with 0 at step 41".
std::string ExitsText(const AttemptObservation& attempt, const LeftRanks& ranks);

// Returns the finding `stalled` for a running job in which a rank exited with 0 some seconds ago
// while others still run.
std::optional<v1::HealthFinding> WhyRanksStay(const Observations& observations,
                                              const JobEntry& entry, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_OBSERVATIONS_LEFT_RANKS_H_
