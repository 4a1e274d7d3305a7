// Times between points of a rank's work.
#ifndef TRAINYARD_TRAINER_PARALLEL_TIME_MARKS_H_
#define TRAINYARD_TRAINER_PARALLEL_TIME_MARKS_H_

#include <torch/types.h>

#include <memory>
#include <vector>

namespace trainyard::trainer {

// Not thread-safe.
class TimeMarks {
 public:
  virtual ~TimeMarks() = default;

  // Marks the point at which the work queued on the current stream so far is done.
  virtual void Add() = 0;

  // Returns the seconds from each mark to the next and clears the marks. The last mark must have
  // been reached.
  virtual std::vector<double> TakeGaps() = 0;
};

// Marks by the calling thread's clock.
std::unique_ptr<TimeMarks> MakeHostTimeMarks();

// Marks by the time of the GPU, which must be current; on a CPU, by the calling thread's clock.
std::unique_ptr<TimeMarks> MakeTimeMarks(torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_TIME_MARKS_H_
