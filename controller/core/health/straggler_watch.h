// Detects slow ranks: ranks that compute longer than the rest of their gang, so that the gang waits
// for them at each step.
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
#include "trainyard/v1/health.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

struct Straggler {
  int rank = 0;
  // The rank's median compute seconds per step over a minute, and the median of the comparable
  // ranks.
  double seconds = 0;
  double median_seconds = 0;
  int compared = 0;  // The number of comparable ranks, including this one.
};

// Returns the ranks of the running attempt whose compute time exceeds watchdog.slow_rank_ratio
// times the median of their pipeline stage, in ascending order. A stage is considered only if at
// least three of its ranks are measured.
std::vector<Straggler> FindStragglers(const Observations& observations, const JobEntry& entry);

// Returns AlertRaised and NodeBlamed for each slow rank of the attempt that was not reported
// before.
std::vector<v1::Event> StragglerEvents(const ClusterState& state, const Observations& observations,
                                       const JobEntry& entry, Timestamp now);

// Returns the finding `slow` about the slowest rank. Returns nullopt if the job is not running
// or has no slow rank.
std::optional<v1::HealthFinding> WhySlowRank(const ClusterState& state,
                                             const Observations& observations,
                                             const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_STRAGGLER_WATCH_H_
