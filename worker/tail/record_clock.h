// Times of a rank's records on a clock that nobody can set.
#ifndef TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_
#define TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_

#include <cstdint>
#include <optional>

#include "proto/support/clock.h"

namespace trainyard::worker {

// A program times its records by the wall clock, which can be set while it runs, or by its own
// clock. A record cannot be written after it is read, or before its predecessor. A record time that
// violates this means that the program's clock was set; the time between the two records is then
// taken from the time between their readings. A clock change made while the worker was away from
// the file cannot be distinguished from the time away.
class RecordClock {
 public:
  // Steady milliseconds at which a record with time `record_ms`, read at `read`, was written. Call
  // it in the order of the file.
  int64_t SteadyTimeOf(int64_t record_ms, const ClockReading& read);

 private:
  // Program's clock minus steady clock; nullopt before the first record.
  std::optional<int64_t> ahead_ms_;
  // Steady times at which the newest record was written and read.
  int64_t newest_ms_ = 0;
  int64_t read_ms_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_
