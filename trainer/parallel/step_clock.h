// Divides a rank's step time into parts.
#ifndef TRAINYARD_TRAINER_PARALLEL_STEP_CLOCK_H_
#define TRAINYARD_TRAINER_PARALLEL_STEP_CLOCK_H_

#include <torch/types.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "trainer/parallel/device/time_marks.h"

namespace trainyard::trainer {

// A wait counts only while the rank does no other work.
enum class StepPart : size_t {
  kCompute,
  kInputWait,     // Waits for the micro-batch.
  kTensorWait,    // Waits for operations along the tensor axis.
  kContextWait,   // Waits for operations along the context axis.
  kExpertWait,    // Waits for the exchange of rows between the ranks of experts.
  kPipelineWait,  // Waits for a neighboring stage, including its computation (the bubble).
  kDataWait,      // Waits for gradient sums and, with ZeRO, for weights.
  kWorldWait,     // Waits for the loss and the norm over all ranks.
  kOptimizer,
  kCheckpointWait,  // Waits for a save to copy the state.
};
inline constexpr size_t kStepParts = 10;

// Seconds per StepPart. Their sum is the time that the step takes on the device.
using StepTimes = std::array<double, kStepParts>;

double& TimeOf(StepTimes& times, StepPart part);
double TimeOf(const StepTimes& times, StepPart part);

// Not thread-safe.
class StepClock {
 public:
  explicit StepClock(torch::Device device);

  // Starts a measurement, which begins with kCompute. Does nothing if the previous measurement has
  // not been collected.
  void Begin();
  void End();
  bool is_measuring() const { return state_ == State::kMeasuring; }

  // Adds the device's time from now on to `part` and returns the previous part. Without a running
  // measurement, does nothing and returns kCompute.
  StepPart Switch(StepPart part);

  // Returns the ended measurement and clears it; nullopt if there is none. The device must have
  // reached the end of the measurement.
  std::optional<StepTimes> Collect();

 private:
  enum class State { kIdle, kMeasuring, kEnded };

  std::unique_ptr<TimeMarks> marks_;
  State state_ = State::kIdle;
  std::vector<StepPart> parts_;  // The part that begins at each time mark.
};

// Adds the device's time between construction and destruction of the scope to `part`.
class StepPartScope {
 public:
  // `clock` may be null; otherwise it must outlive this object.
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
