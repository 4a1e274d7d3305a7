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
  // Maximum number of readings. A thread interrupted between reading the two clocks would see a
  // clock change that never happened, so an interrupted reading is repeated.
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
