// Events caused by a user's request.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_USER_EVENT_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_USER_EVENT_H_

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// Sets the event's actor to the user who sent the request.
template <typename Request>
v1::Event ByUser(const Request& request, v1::Event event) {
  event.set_actor(absl::StrCat("user ", request.user()));
  event.set_actor_verified(request.user_verified());
  return event;
}

// An event of that user; the caller sets its kind.
template <typename Request>
v1::Event UserEvent(const Request& request, Timestamp now) {
  v1::Event event;
  event.set_time_ms(now);
  return ByUser(request, std::move(event));
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_USER_EVENT_H_
