// Checks invariants. A broken invariant is a bug in the core. The process ends, and the next
// process replays the log.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_INVARIANT_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_INVARIANT_H_

#include <string_view>

namespace trainyard::controller {

// Writes the message to stderr and aborts.
[[noreturn]] void DieOfBrokenInvariant(std::string_view message);

inline void Require(bool holds, std::string_view message) {
  if (!holds) DieOfBrokenInvariant(message);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_INVARIANT_H_
