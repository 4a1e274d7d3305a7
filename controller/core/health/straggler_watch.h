// Detects ranks that compute longer than the rest of their gang, which waits for them at each step.
#ifndef TRAINYARD_CONTROLLER_CORE_HEALTH_STRAGGLER_WATCH_H_
#define TRAINYARD_CONTROLLER_CORE_HEALTH_STRAGGLER_WATCH_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

struct Straggler {
  int rank = 0;
  // Compute seconds per step: the rank's median over a minute, and the median of the comparable
  // ranks.
  double seconds = 0;
  double median_seconds = 0;
  int compared = 0;  // Number of comparable ranks, including this one.
};

// Ranks of the running attempt, in order, whose compute time exceeds watchdog.slow_rank_ratio times
// the median of the ranks in the same pipeline stage. A stage needs at least three measured ranks.
std::vector<Straggler> FindStragglers(const Observations& observations, const JobEntry& entry);

// AlertRaised and NodeBlamed for each straggler of the attempt that has not been reported yet.
std::vector<v1::Event> StragglerEvents(const ClusterState& state, const Observations& observations,
                                       const JobEntry& entry, Timestamp now);

// Reason with the code STRAGGLER and the next step as advice. nullopt if the job is not running or
// has no straggler.
std::optional<v1::PendingReason> WhySlow(const Observations& observations, const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_STRAGGLER_WATCH_H_
