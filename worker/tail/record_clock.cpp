#include "worker/tail/record_clock.h"

#include <algorithm>

namespace trainyard::worker {

int64_t RecordClock::SteadyTimeOf(int64_t record_ms, const ClockReading& read) {
  // Later times are rejected, because computations with them would overflow.
  constexpr int64_t kLatestMs = 253'402'300'800'000;  // The year 10,000.
  record_ms = std::clamp<int64_t>(record_ms, 0, kLatestMs);
  const bool is_first = !ahead_ms_.has_value();
  if (is_first) ahead_ms_ = read.wall_ms - read.steady_ms;
  int64_t steady_ms = record_ms - *ahead_ms_;
  if (steady_ms > read.steady_ms || (!is_first && steady_ms < newest_ms_)) {
    steady_ms = is_first ? read.steady_ms : newest_ms_ + (read.steady_ms - read_ms_);
    ahead_ms_ = record_ms - steady_ms;
  }
  newest_ms_ = steady_ms;
  read_ms_ = read.steady_ms;
  return steady_ms;
}

}  // namespace trainyard::worker
