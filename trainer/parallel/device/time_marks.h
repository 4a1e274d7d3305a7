// Measures the times between marks in a rank's work.
#ifndef TRAINYARD_TRAINER_PARALLEL_DEVICE_TIME_MARKS_H_
#define TRAINYARD_TRAINER_PARALLEL_DEVICE_TIME_MARKS_H_

#include <torch/types.h>

#include <memory>
#include <vector>

namespace trainyard::trainer {

// Not thread-safe.
class TimeMarks {
 public:
  virtual ~TimeMarks() = default;

  // Adds a mark, which is reached when the work queued on the current stream so far is done.
  virtual void Add() = 0;

  // Returns the seconds between consecutive marks and removes the marks. The last mark must have
  // been reached.
  virtual std::vector<double> TakeGaps() = 0;
};

// Returns marks timed by the clock of the calling thread.
std::unique_ptr<TimeMarks> MakeHostTimeMarks();

// Returns marks timed by the GPU `device`, which must be current, or for a CPU by the clock of the
// calling thread.
std::unique_ptr<TimeMarks> MakeTimeMarks(torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_DEVICE_TIME_MARKS_H_
