// Detects at the start that a store was replaced by an older copy. Compares the marks of the event
// log with the marks of the other stores.
#ifndef TRAINYARD_CONTROLLER_STORAGE_HISTORY_CHECK_H_
#define TRAINYARD_CONTROLLER_STORAGE_HISTORY_CHECK_H_

#include <memory>

#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"
#include "controller/loop/loop.h"
#include "controller/store/stores.h"
#include "proto/contract/leader_term.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// Appends EventsLost and StoreDataLost to the event log for each loss that a mark shows, and logs
// the losses. `state` is the state replayed from the event log. Returns true if events were
// appended; the caller must then read the event log again. After an error, such as a full disk, the
// controller must not start, because its state would lack events. FAILED_PRECONDITION: events are
// lost, and `stop_on_lost_events` is set (core_options.h); nothing was appended.
absl::StatusOr<bool> RecordLosses(const ClusterState& state, Stores& stores, Timestamp now,
                                  int64_t leader_term = kFirstTerm,
                                  bool stop_on_lost_events = false);

// Logs the cause and ends the process with exit status 1, before anything else is written.
[[noreturn]] void ExitWithLostEvents(const absl::Status& cause);

// Calls RecordLosses with the state of the recovered `loop`. If a loss was recorded, recovers
// `loop` again.
absl::Status RecoverLosses(Stores& stores, const Clock& clock, const LoopOptions& options,
                           std::unique_ptr<Loop>& loop);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORAGE_HISTORY_CHECK_H_
