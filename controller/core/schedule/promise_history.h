// The history of the times that were promised to waiting jobs, with the cause of each change. The
// histories are derived and not durable.
#ifndef TRAINYARD_CONTROLLER_CORE_SCHEDULE_PROMISE_HISTORY_H_
#define TRAINYARD_CONTROLLER_CORE_SCHEDULE_PROMISE_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "controller/core/schedule/schedule.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// The changes kept per job: the first one and the newest others.
inline constexpr std::size_t kPromiseChangesKept = 16;
// The maximum number of jobs with a history. Jobs with lower numbers are dropped first.
inline constexpr std::size_t kPromiseHistoriesKept = 1000;
// Smaller changes are not recorded, because predicted ends vary with each reported step.
inline constexpr int64_t kPromiseToleranceMs = 60'000;

// The causes that a tick adds to the state.
struct TickCauses {
  std::span<const v1::Event> events;
  // The jobs that were placed in this tick, with the number of heads before them
  // (Placement::heads_before).
  std::map<int64_t, std::ptrdiff_t> placed;
};

// Returns the promised time as users see it: 0 if the head is not expected to fit within 30 days.
Timestamp KnownPromise(Timestamp promised, Timestamp now);

// Sets schedule.promises: `before`, without jobs that no longer wait, and with the heads of the
// schedule. The schedule must be complete.
void ContinuePromises(const ClusterState& state, const TickCauses& causes, Timestamp now,
                      Promises before, Schedule& schedule);

// Moves all times after the wall clock was set.
void ShiftPromises(int64_t step_ms, Promises& promises);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SCHEDULE_PROMISE_HISTORY_H_
