// Bounds that hold for every call.
#ifndef TRAINYARD_CONTROLLER_API_LIMITS_H_
#define TRAINYARD_CONTROLLER_API_LIMITS_H_

#include <cstddef>

namespace trainyard::controller {

// Largest message either way.
inline constexpr std::size_t kMaxMessageBytes = 16 << 20;

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_LIMITS_H_
