// Compares the high-water marks of the event log with those of the other stores when the controller
// starts, so that an older copy of one of them is detected.
#ifndef TRAINYARD_CONTROLLER_HISTORY_CHECK_H_
#define TRAINYARD_CONTROLLER_HISTORY_CHECK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/loop.h"
#include "controller/store/stores.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Appends and logs EventsLost and StoreDataLost for each loss that a mark shows. `state` is the
// state replayed from the event log. Returns true if events were appended: the log must then be
// read again. On an error, such as a full disk, the controller must not start: it would act on a
// state with missing events.
absl::StatusOr<bool> RecordLosses(const ClusterState& state, Stores& stores, Timestamp now);

// Calls RecordLosses with the state of a recovered loop, and recovers `loop` again if a loss was
// recorded.
absl::Status RecoverLosses(Stores& stores, const Clock& clock, const LoopOptions& options,
                           std::unique_ptr<Loop>& loop);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HISTORY_CHECK_H_
