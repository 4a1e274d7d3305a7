// Yields. The controller asks a live attempt to save and exit, although nothing has failed, because
// it needs the attempt's slots or because the job's time is over. The ranks get SIGTERM and the
// job's stop_grace, as for a pause. The job then returns to its place in the queue automatically. A
// yield uses no restart budget.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_YIELD_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_YIELD_H_

#include <optional>

#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns true if the job has a live attempt that can save now. An attempt cannot save while it is
// stopping, while it heals, after a rank failed, and after all its ranks exited with 0. All of
// these conditions end without a yield within the limits of a live gang.
bool CanYield(const JobEntry& entry);

// Returns the AttemptYielded event, or nullopt if the job cannot yield now. The caller asks again
// while the cause lasts. `yield.reason` is required, because users see it.
std::optional<v1::Event> YieldEvent(const JobEntry& entry, const v1::Yield& yield, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_YIELD_H_
