// Breakdown of a rank's step time.
#ifndef TRAINYARD_TRAINER_PARALLEL_STEP_CLOCK_H_
#define TRAINYARD_TRAINER_PARALLEL_STEP_CLOCK_H_

#include <torch/types.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "trainer/parallel/time_marks.h"

namespace trainyard::trainer {

// A wait counts only if no other work of the rank hides it.
enum class StepPart : size_t {
  kCompute,
  kInputWait,     // For the micro-batch.
  kTensorWait,    // For operations along the tensor axis.
  kContextWait,   // For operations along the context axis.
  kPipelineWait,  // For a neighbouring stage, including its unfinished computation: the bubble.
  kDataWait,      // For gradient sums, and for weights under ZeRO.
  kWorldWait,     // For the loss and the norm over all ranks.
  kOptimizer,
  kCheckpointWait,  // For the copy of the state made by a save.
};
inline constexpr size_t kStepParts = 9;

// Seconds by StepPart. Their sum is the step's time on the device.
using StepTimes = std::array<double, kStepParts>;

double& TimeOf(StepTimes& times, StepPart part);
double TimeOf(const StepTimes& times, StepPart part);

// Not thread-safe.
class StepClock {
 public:
  explicit StepClock(torch::Device device);

  // Starts a measurement, in part kCompute. Does nothing until the previous measurement has been
  // collected.
  void Begin();
  // Ends the current measurement.
  void End();
  bool is_measuring() const { return state_ == State::kMeasuring; }

  // Attributes the device's time from here on to `part` and returns the previous part. Returns
  // kCompute, at no cost, while nothing is measured.
  StepPart Switch(StepPart part);

  // Returns the ended measurement, once; nullopt if there is none. The device must have reached its
  // end.
  std::optional<StepTimes> Collect();

 private:
  enum class State { kIdle, kMeasuring, kEnded };

  std::unique_ptr<TimeMarks> marks_;
  State state_ = State::kIdle;
  std::vector<StepPart> parts_;  // Part that begins at each mark.
};

// Attributes the time of its lifetime to one part.
class StepPartScope {
 public:
  // clock: may be null; otherwise it must outlive this.
  StepPartScope(StepClock* clock, StepPart part) : clock_(clock) {
    if (clock_ != nullptr) before_ = clock_->Switch(part);
  }
  ~StepPartScope() {
    if (clock_ != nullptr) clock_->Switch(before_);
  }
  StepPartScope(const StepPartScope&) = delete;
  StepPartScope& operator=(const StepPartScope&) = delete;

 private:
  StepClock* const clock_;
  StepPart before_ = StepPart::kCompute;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_STEP_CLOCK_H_
