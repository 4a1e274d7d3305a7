// The progress of one rank: its phases and the time spent in each.
#ifndef TRAINYARD_TRAINER_TELEMETRY_RANK_PROGRESS_H_
#define TRAINYARD_TRAINER_TELEMETRY_RANK_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "proto/contract/phase.h"
#include "proto/contract/phase_times.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Must outlive the trainer, so that an alert about a failure of the trainer can include the last
// step. Must be used from one thread.
class RankProgress {
 public:
  using ClockSeconds = std::function<double()>;  // Monotonic.

  // Starts in phase init without writing a record. `telemetry` must outlive this object.
  explicit RankProgress(TelemetryWriter& telemetry);
  RankProgress(TelemetryWriter& telemetry, ClockSeconds clock);

  // Sets the generation of the gang's current connections. Records contain the new generation once
  // the heal is complete: after a step in this generation, or when the gang evaluates, saves or
  // ends with the restored step.
  void SetGeneration(int64_t generation) { connected_generation_ = generation; }

  // Begins a phase. Writes the phase, and a rank record with the final times of the previous phase.
  void EnterPhase(Phase phase, int64_t step);

  // Records a completed optimizer step. `step` is the total number of completed steps, `seconds`
  // the duration of this step, and stall_seconds the total time for which all steps so far have
  // waited for data.
  void Step(int64_t step, double seconds, double stall_seconds);
  // Stores the times of the latest measured step (RankRecord::step_times).
  void NoteStepTimes(MetricValues times) { step_times_ = std::move(times); }
  // True if the latest record is at least one second old, or if the generation has changed since
  // that record. The interval keeps short steps from causing too many records.
  bool IsDue() const;
  void Write(int64_t memory_bytes);
  // Writes a record with the memory size of the latest record. Called, for example, before an exit.
  void Write() { Write(memory_bytes_); }

  // Steps completed.
  int64_t step() const { return step_; }

 private:
  TelemetryWriter& telemetry_;
  const ClockSeconds clock_;
  PhaseTimes phase_times_;
  int64_t connected_generation_ = 1;
  // generation_ is the generation of the latest step, written_generation_ the generation of the
  // latest record.
  int64_t generation_ = 1;
  int64_t written_generation_ = 1;
  int64_t step_ = 0;
  double stall_seconds_ = 0;
  int64_t memory_bytes_ = 0;
  // The number of steps since the latest record, and the sum of their seconds.
  int64_t steps_ = 0;
  double steps_seconds_ = 0;
  double written_;
  // Mean seconds per step, from the latest record that covered steps.
  double step_seconds_ = 0;
  MetricValues step_times_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_TELEMETRY_RANK_PROGRESS_H_
