// Events that the controller itself causes.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_CONTROLLER_EVENT_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_CONTROLLER_EVENT_H_

#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Returns an event with the time `now`. The caller sets the event's kind.
inline v1::Event ControllerEvent(Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  event.set_actor("controller");
  return event;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_CONTROLLER_EVENT_H_
