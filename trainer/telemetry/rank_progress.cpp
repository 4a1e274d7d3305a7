#include "trainer/telemetry/rank_progress.h"

#include <chrono>
#include <utility>

namespace trainyard::trainer {
namespace {

constexpr double kSecondsBetweenRecords = 1;

double SteadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

RankProgress::RankProgress(TelemetryWriter& telemetry) : RankProgress(telemetry, SteadySeconds) {}

RankProgress::RankProgress(TelemetryWriter& telemetry, ClockSeconds clock)
    : telemetry_(telemetry),
      clock_(std::move(clock)),
      phase_times_(Phase::kInit, clock_() * 1e3),
      written_(clock_()) {}

void RankProgress::EnterPhase(Phase phase, int64_t step) {
  phase_times_.Enter(phase, clock_() * 1e3);
  step_ = step;
  // These phases follow a step, or a restored state that needs no further step.
  const bool has_state =
      phase == Phase::kEval || phase == Phase::kCheckpoint || phase == Phase::kDone;
  if (has_state) generation_ = connected_generation_;
  telemetry_.WritePhase(phase, step);
  Write();
}

void RankProgress::Step(int64_t step, double seconds, double stall_seconds) {
  step_ = step;
  generation_ = connected_generation_;
  stall_seconds_ = stall_seconds;
  ++steps_;
  steps_seconds_ += seconds;
}

bool RankProgress::IsDue() const {
  return generation_ != written_generation_ || clock_() - written_ >= kSecondsBetweenRecords;
}

void RankProgress::Write(int64_t memory_bytes) {
  memory_bytes_ = memory_bytes;
  written_ = clock_();
  written_generation_ = generation_;
  if (steps_ > 0) step_seconds_ = steps_seconds_ / static_cast<double>(steps_);
  steps_ = 0;
  steps_seconds_ = 0;
  telemetry_.WriteRank({.generation = generation_,
                        .step = step_,
                        .step_seconds = step_seconds_,
                        .memory_bytes = memory_bytes_,
                        .init_seconds = phase_times_.Seconds(Phase::kInit),
                        .load_seconds = phase_times_.Seconds(Phase::kLoad),
                        .data_stall_seconds = stall_seconds_,
                        .checkpoint_seconds = phase_times_.Seconds(Phase::kCheckpoint),
                        .evaluation_seconds = phase_times_.Seconds(Phase::kEval),
                        .step_times = step_times_});
}

}  // namespace trainyard::trainer
