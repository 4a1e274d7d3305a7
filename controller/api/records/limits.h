// Limits that apply to every API call.
#ifndef TRAINYARD_CONTROLLER_API_RECORDS_LIMITS_H_
#define TRAINYARD_CONTROLLER_API_RECORDS_LIMITS_H_

#include <cstddef>

namespace trainyard::controller {

// The maximum size of a message from or to a client.
inline constexpr std::size_t kMaxMessageBytes = 16 << 20;

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_RECORDS_LIMITS_H_
