// Key that identifies an attempt.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_ATTEMPT_KEY_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_ATTEMPT_KEY_H_

#include <cstdint>
#include <utility>

namespace trainyard::controller {

// Job id and attempt number.
using AttemptKey = std::pair<int64_t, int64_t>;

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_ATTEMPT_KEY_H_
