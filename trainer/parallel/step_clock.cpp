#include "trainer/parallel/step_clock.h"

#include <utility>

namespace trainyard::trainer {

double& TimeOf(StepTimes& times, StepPart part) { return times[static_cast<size_t>(part)]; }

double TimeOf(const StepTimes& times, StepPart part) { return times[static_cast<size_t>(part)]; }

StepClock::StepClock(torch::Device device) : marks_(MakeTimeMarks(device)) {}

void StepClock::Begin() {
  if (state_ != State::kIdle) return;
  state_ = State::kMeasuring;
  parts_.assign(1, StepPart::kCompute);
  marks_->Add();
}

void StepClock::End() {
  if (state_ != State::kMeasuring) return;
  marks_->Add();
  state_ = State::kEnded;
}

void StepClock::Drop() {
  state_ = State::kIdle;
  static_cast<void>(marks_->TakeGaps());
}

StepPart StepClock::Switch(StepPart part) {
  if (state_ != State::kMeasuring) return StepPart::kCompute;
  marks_->Add();
  const StepPart before = parts_.back();
  parts_.push_back(part);
  return before;
}

std::optional<StepTimes> StepClock::Collect() {
  if (state_ != State::kEnded) return std::nullopt;
  state_ = State::kIdle;
  const std::vector<double> gaps = marks_->TakeGaps();
  StepTimes times{};
  for (size_t i = 0; i < gaps.size(); ++i) TimeOf(times, parts_[i]) += gaps[i];
  return times;
}

}  // namespace trainyard::trainer
