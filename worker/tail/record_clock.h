// Times of a rank's records on a clock that nobody sets.
#ifndef TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_
#define TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_

#include <cstdint>
#include <optional>

#include "proto/support/clock.h"

namespace trainyard::worker {

// A program times its records by the wall clock, which can be set while it runs, or by a clock of
// its own. No record is read before it is written, and none is written before the one ahead of it:
// a time that says otherwise means that the program's clock was set. Then as much time lies between
// the two records as between their readings. A clock that was set before a worker came back to a
// file cannot be told from the time for which the worker was away.
class RecordClock {
 public:
  // Steady milliseconds at which a record of this time was written, read at `read`. In the order of
  // the file.
  int64_t SteadyTimeOf(int64_t record_ms, const ClockReading& read);

 private:
  // Program's clock minus steady clock; nullopt before the first record.
  std::optional<int64_t> ahead_ms_;
  // When the newest record was written, and when it was read.
  int64_t newest_ms_ = 0;
  int64_t read_ms_ = 0;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_RECORD_CLOCK_H_
