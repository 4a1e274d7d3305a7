#include "proto/support/clock.h"

#include <time.h>

#include <chrono>

#include "proto/support/boot_id.h"

namespace trainyard {
namespace {

int64_t BootTimeMs() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * int64_t{1000} + now.tv_nsec / 1'000'000;
}

}  // namespace

Timestamp SystemClock::Now() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

ClockReading SystemClock::Read() const {
  // The maximum number of attempts to read both clocks. If the thread is interrupted between the
  // two readings, the delay looks like a change of one clock. The readings are then discarded and
  // repeated.
  constexpr int kTries = 10;
  ClockReading reading;
  for (int i = 0; i < kTries; ++i) {
    const int64_t before_ms = BootTimeMs();
    reading.wall_ms = Now();
    reading.steady_ms = BootTimeMs();
    if (reading.steady_ms - before_ms <= 1) break;
  }
  return reading;
}

std::string SystemClock::BootId() const { return trainyard::BootId(); }

}  // namespace trainyard
