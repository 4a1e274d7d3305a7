// Growth of elastic jobs: a running job saves and continues on more nodes.
//
// Growth comes last. It needs free nodes that no waiting job can use, it is rare, and it must save
// more time than it costs.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_GROWTH_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_GROWTH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The predicted gain must be this many times the cost, because more nodes rarely speed up a run by
// their full share.
inline constexpr double kGainPerGrowthCost = 2;

// Returns the time that the job's run costs if it saves and starts again, in milliseconds: its
// longest earlier save and start, or RestartCostMs if they are not known, and the work since the
// newest checkpoint of a program that does not save when it is asked to stop.
int64_t GrowthCostMs(const JobEntry& entry, const Observations& observations, Timestamp now);

struct GrowthLimits {
  NodeLimits nodes;
  // A job grows only if its attempt is at least this old.
  int64_t interval_ms = 0;
};

// Returns true if a running elastic job has less than its maximum and its attempt is old enough.
bool MayAnyGrow(const ClusterState& state, int64_t interval_ms, Timestamp now);

// Returns the event that asks one elastic job to yield and to continue on more nodes, or an empty
// list. The job that gains most is chosen. Adds missing layout choices to `schedule`, which must be
// that of this state. Nothing may grow while a job waits for slots of its kind, or while another
// job grows.
std::vector<v1::Event> GrowthDue(const ClusterState& state, const Observations& observations,
                                 const GrowthLimits& limits, Timestamp now, Schedule& schedule);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_GROWTH_H_
