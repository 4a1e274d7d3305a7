// Limits that apply to every call.
#ifndef TRAINYARD_CONTROLLER_API_LIMITS_H_
#define TRAINYARD_CONTROLLER_API_LIMITS_H_

#include <cstddef>

namespace trainyard::controller {

// Maximum message size in either direction.
inline constexpr std::size_t kMaxMessageBytes = 16 << 20;

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_LIMITS_H_
