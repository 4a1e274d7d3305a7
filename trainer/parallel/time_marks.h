// Times between points of a rank's work.
#ifndef TRAINYARD_TRAINER_PARALLEL_TIME_MARKS_H_
#define TRAINYARD_TRAINER_PARALLEL_TIME_MARKS_H_

#include <torch/types.h>

#include <memory>
#include <vector>

namespace trainyard::trainer {

// One thread at a time.
class TimeMarks {
 public:
  virtual ~TimeMarks() = default;

  // Marks the point at which the work that is queued on the current stream so far is done.
  virtual void Add() = 0;

  // Seconds from each mark to the next, and forgets them. The last mark must be reached.
  virtual std::vector<double> TakeGaps() = 0;
};

// Of the calling thread's own time.
std::unique_ptr<TimeMarks> MakeHostTimeMarks();

// Of the time of a GPU, which must be current; on a CPU of the calling thread's.
std::unique_ptr<TimeMarks> MakeTimeMarks(torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_TIME_MARKS_H_
