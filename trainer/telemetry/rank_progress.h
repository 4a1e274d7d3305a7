// What one rank does and how long it takes: its phases and the records of its own times.
#ifndef TRAINYARD_TRAINER_TELEMETRY_RANK_PROGRESS_H_
#define TRAINYARD_TRAINER_TELEMETRY_RANK_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <map>

#include "proto/contract/phase.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Outlives the trainer, so that what is said of its failure still knows how far it came. One
// thread.
class RankProgress {
 public:
  using ClockSeconds = std::function<double()>;  // Never goes back.

  // `telemetry` must outlive this. The program is in phase init, and nothing is written yet.
  explicit RankProgress(TelemetryWriter& telemetry);
  RankProgress(TelemetryWriter& telemetry, ClockSeconds clock);

  // Writes the phase, and the times that are final with the end of the one before.
  void EnterPhase(Phase phase, int64_t step);

  // An optimizer step is done: `step` completed in all, `seconds` taken by this one,
  // `stall_seconds` waited for data by all so far.
  void Step(int64_t step, double seconds, double stall_seconds);
  // True a second after the record before: a rank writes no more often, however short its steps.
  bool IsDue() const;
  void Write(int64_t memory_bytes);
  // The last words, with the memory of the record before.
  void Write() { Write(memory_bytes_); }

  // Steps completed.
  int64_t step() const { return step_; }

 private:
  TelemetryWriter& telemetry_;
  const ClockSeconds clock_;
  Phase phase_ = Phase::kInit;
  double phase_began_;
  // Of the phases that are over.
  std::map<Phase, double> phase_seconds_;
  int64_t step_ = 0;
  double stall_seconds_ = 0;
  int64_t memory_bytes_ = 0;
  // Since the last record.
  int64_t steps_ = 0;
  double steps_seconds_ = 0;
  double written_;
  // Of the last record that had steps.
  double step_seconds_ = 0;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_TELEMETRY_RANK_PROGRESS_H_
