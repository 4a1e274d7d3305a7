// Converts the times of a rank's records to the time of a clock that cannot be set.
#ifndef TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_
#define TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_

#include <cstdint>
#include <optional>

#include "proto/support/clock.h"

namespace trainyard::worker {

// The times in a program's records come from the wall clock, which may be set while the program
// runs, or from another clock. A record cannot be written after it is read, or before the preceding
// record. If a record's time violates this rule, the program's clock was set. The time between the
// two records is then computed from the times at which the worker read them. If the clock was set
// while the worker did not read the file, this cannot be detected.
class RecordClock {
 public:
  // Returns the steady time in milliseconds at which a record was written. `record_ms` is the time
  // in the record; `read` is the time at which it was read. Call in the order of the file.
  int64_t SteadyTimeOf(int64_t record_ms, const ClockReading& read);

 private:
  // The program's clock minus the steady clock; nullopt before the first record.
  std::optional<int64_t> ahead_ms_;
  // The steady times at which the newest record was written and at which it was read.
  int64_t newest_ms_ = 0;
  int64_t read_ms_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_
