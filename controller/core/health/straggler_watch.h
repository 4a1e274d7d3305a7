// Ranks that compute longer than the others of their gang, which wait for them at each step.
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
  // Seconds of computing in a step: its own median of a minute, and that of the ranks like it.
  double seconds = 0;
  double median_seconds = 0;
  int compared = 0;  // Ranks like it, itself included.
};

// Ranks of the running attempt whose computing takes watchdog.slow_rank_ratio times the median of
// the ranks of the same pipeline stage, by rank. Fewer than three ranks of a stage have no median
// to compare with.
std::vector<Straggler> FindStragglers(const Observations& observations, const JobEntry& entry);

// AlertRaised and NodeBlamed for each straggler of the attempt that was not reported yet.
std::vector<v1::Event> StragglerEvents(const ClusterState& state, const Observations& observations,
                                       const JobEntry& entry, Timestamp now);

// Code STRAGGLER with the next step as advice; nothing for a job that does not run or has none.
std::optional<v1::PendingReason> WhySlow(const Observations& observations, const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_HEALTH_STRAGGLER_WATCH_H_
