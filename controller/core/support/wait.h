// Waits measured by the controller's clock.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_WAIT_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_WAIT_H_

#include "proto/support/clock.h"

namespace trainyard::controller {

// Returns true if the wait from `begin_ms` to `end_ms` is over. If the begin is after `now`, it was
// recorded before the wall clock was set back (in a log of an older release, or outside the state).
// The remaining time of such a wait is unknown, so the wait is treated as over.
inline bool HasPassed(Timestamp begin_ms, Timestamp end_ms, Timestamp now) {
  return now >= end_ms || now < begin_ms;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_WAIT_H_
