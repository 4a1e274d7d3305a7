// Events that a principal's request causes.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_PRINCIPAL_EVENT_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_PRINCIPAL_EVENT_H_

#include <utility>

#include "controller/core/support/principal.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Sets the event's actor to the principal.
inline v1::Event By(const Principal& principal, v1::Event event) {
  event.set_actor(ActorOf(principal));
  event.set_actor_verified(IsVerified(principal));
  return event;
}

// Returns an event of the principal. The caller sets the event's kind.
inline v1::Event EventBy(const Principal& principal, Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  return By(principal, std::move(event));
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_PRINCIPAL_EVENT_H_
