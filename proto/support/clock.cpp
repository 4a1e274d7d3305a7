#include "proto/support/clock.h"

#include <chrono>

namespace trainyard {

Timestamp SystemClock::Now() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace trainyard
