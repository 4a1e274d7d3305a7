// Progress of one rank: its phases and the times that it spent in them.
#ifndef TRAINYARD_TRAINER_TELEMETRY_RANK_PROGRESS_H_
#define TRAINYARD_TRAINER_TELEMETRY_RANK_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "proto/contract/phase.h"
#include "proto/contract/phase_times.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Outlives the trainer, so that an alert about the trainer's failure can name the last step. One
// thread.
class RankProgress {
 public:
  using ClockSeconds = std::function<double()>;  // Never goes back.

  // `telemetry` must outlive this. The program is in phase init, and nothing is written yet.
  explicit RankProgress(TelemetryWriter& telemetry);
  RankProgress(TelemetryWriter& telemetry, ClockSeconds clock);

  // Of the gang's connection from now on. Records carry it once a step was made in it, or once the
  // gang evaluates or saves the restored step: then it has healed.
  void SetGeneration(int64_t generation) { connected_generation_ = generation; }

  // Writes the phase, and a record with the times that the end of the previous phase makes final.
  void EnterPhase(Phase phase, int64_t step);

  // Notes a completed optimizer step: `step` completed in total, `seconds` taken by this step,
  // `stall_seconds` waited for data by all steps so far.
  void Step(int64_t step, double seconds, double stall_seconds);
  // Notes how the time of a newest step was spent (RankRecord::step_times).
  void NoteStepTimes(MetricValues times) { step_times_ = std::move(times); }
  // True from one second after the last record on, and after the first step of a generation: a rank
  // writes no more often, however short its steps.
  bool IsDue() const;
  void Write(int64_t memory_bytes);
  // Writes a record with the memory of the last record, as before an exit.
  void Write() { Write(memory_bytes_); }

  // Steps completed.
  int64_t step() const { return step_; }

 private:
  TelemetryWriter& telemetry_;
  const ClockSeconds clock_;
  PhaseTimes phase_times_;
  int64_t connected_generation_ = 1;
  // Of the newest step, and of the newest record.
  int64_t generation_ = 1;
  int64_t written_generation_ = 1;
  int64_t step_ = 0;
  double stall_seconds_ = 0;
  int64_t memory_bytes_ = 0;
  // Steps since the last record, and their seconds.
  int64_t steps_ = 0;
  double steps_seconds_ = 0;
  double written_;
  // Mean seconds a step of the last record that had steps.
  double step_seconds_ = 0;
  MetricValues step_times_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_TELEMETRY_RANK_PROGRESS_H_
