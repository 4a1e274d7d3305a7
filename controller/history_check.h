// Compares the high-water marks of the event log and of the stores beside it when the controller
// starts, so that an older copy of one of them is not taken as true.
#ifndef TRAINYARD_CONTROLLER_HISTORY_CHECK_H_
#define TRAINYARD_CONTROLLER_HISTORY_CHECK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/loop.h"
#include "controller/store/stores.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Appends and logs EventsLost and StoreDataLost where a mark shows a loss; `state` is that of the
// log. True when something was appended: the log must be read again. On an error, such as a full
// disk, the controller must not start: it would act on a state that misses events.
absl::StatusOr<bool> RecordLosses(const ClusterState& state, Stores& stores, Timestamp now);

// The same for a loop that has recovered from the log: it recovers again where a loss was recorded.
absl::Status RecoverLosses(Stores& stores, const Clock& clock, const LoopOptions& options,
                           std::unique_ptr<Loop>& loop);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_HISTORY_CHECK_H_
