// Conversion of durations.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_DURATIONS_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_DURATIONS_H_

#include <cstdint>

#include "google/protobuf/duration.pb.h"

namespace trainyard::controller {

// Returns milliseconds, rounded towards 0.
inline int64_t ToMs(const google::protobuf::Duration& duration) {
  return duration.seconds() * 1000 + duration.nanos() / 1'000'000;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_DURATIONS_H_
