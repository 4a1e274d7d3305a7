// The time of a step on one rank, split among what it went to.
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

// Waits are those that no other work of the rank hides.
enum class StepPart : size_t {
  kCompute,
  kInputWait,     // For the micro-batch.
  kTensorWait,    // For operations along an axis.
  kContextWait,   //
  kPipelineWait,  // Also for what a neighbouring stage has not computed: the bubble.
  kDataWait,      // Sums of gradients, and weights under ZeRO.
  kWorldWait,     // For the loss and the norm of all ranks.
  kOptimizer,
  kCheckpointWait,  // For the copy of the state that a save makes.
};
inline constexpr size_t kStepParts = 9;

// Seconds by StepPart. They add up to the step on the device.
using StepTimes = std::array<double, kStepParts>;

double& TimeOf(StepTimes& times, StepPart part);
double TimeOf(const StepTimes& times, StepPart part);

// One thread at a time.
class StepClock {
 public:
  explicit StepClock(torch::Device device);

  // Begins to measure, in part compute. Nothing while a measurement has not been collected.
  void Begin();
  // Ends the measurement that Begin began.
  void End();
  bool is_measuring() const { return state_ == State::kMeasuring; }

  // Drops a measurement that was not collected: its step has failed.
  void Drop();

  // From here on the device's time goes to `part`; returns the part before. Costs nothing, and
  // returns kCompute, while nothing is measured.
  StepPart Switch(StepPart part);

  // The measurement that has ended, once: the device must have come to its end. nullopt: none.
  std::optional<StepTimes> Collect();

 private:
  enum class State { kIdle, kMeasuring, kEnded };

  std::unique_ptr<TimeMarks> marks_;
  State state_ = State::kIdle;
  std::vector<StepPart> parts_;  // From each mark on.
};

// Time of one part, from the making of it to its end.
class StepPartScope {
 public:
  // clock: may be null, and must outlive this otherwise.
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
