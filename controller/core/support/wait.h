// Waits by the controller's time.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_WAIT_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_WAIT_H_

#include "proto/support/clock.h"

namespace trainyard::controller {

// True when a wait that began at `begin_ms` and lasts until `end_ms` is over. A begin in the future
// is from before the wall clock was set: in the log of an older release, or kept beside the state.
// The rest of such a wait is unknown, and it counts as over.
inline bool HasPassed(Timestamp begin_ms, Timestamp end_ms, Timestamp now) {
  return now >= end_ms || now < begin_ms;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_WAIT_H_
