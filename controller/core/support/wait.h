// Waits measured by the controller's clock.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_WAIT_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_WAIT_H_

#include "proto/support/clock.h"

namespace trainyard::controller {

// Returns true if the wait from `begin_ms` to `end_ms` is over. A wait that begins after `now` also
// counts as over, because the wall clock was set back and the remaining time is unknown. Such waits
// occur only in logs of older releases and outside the state.
inline bool HasPassed(Timestamp begin_ms, Timestamp end_ms, Timestamp now) {
  return now >= end_ms || now < begin_ms;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_WAIT_H_
