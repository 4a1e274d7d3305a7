// Converts the times of a rank's records to a clock that cannot be set.
#ifndef TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_
#define TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_

#include <cstdint>
#include <optional>

#include "proto/support/clock.h"

namespace trainyard::worker {

// A program times its records by the wall clock, which can be set while it runs, or by its own
// clock. A record cannot be written after it is read, or before its predecessor. A record time that
// violates this means that the program's clock was set. The time between the two records is then
// taken from the times at which they were read. A clock change while the worker was not reading the
// file cannot be distinguished from the time without reads.
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
