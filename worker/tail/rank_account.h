// Computes statistics of a rank from its telemetry.
#ifndef TRAINYARD_WORKER_TAIL_RANK_ACCOUNT_H_
#define TRAINYARD_WORKER_TAIL_RANK_ACCOUNT_H_

#include <cstdint>
#include <string>

#include "proto/contract/phase_times.h"
#include "proto/support/clock.h"
#include "trainyard/v1/telemetry.pb.h"
#include "worker/tail/record_clock.h"

namespace trainyard::worker {

// If a program writes `rank` records, the times in them are used. For any other program, times of
// phases are computed from the times of its records, and the data_stall_seconds of its metrics and
// the blocking_seconds of its checkpoints are added up. Only records read so far count. After a
// restart of the worker these are the records at the end of the file.
class RankAccount {
 public:
  // Adds one record that was read at the time `read`. Call in the order of the file.
  void Note(const v1::TelemetryRecord& record, const ClockReading& read);

  int64_t step() const { return step_; }
  const std::string& phase() const { return phase_; }
  const v1::RankRecord& newest() const { return newest_; }

 private:
  void NoteMetrics(const v1::MetricsRecord& metrics);
  void NoteFlight(const v1::FlightRecord& flight);
  void NotePhase(const v1::TelemetryRecord& record, const ClockReading& read);
  void SetPhaseSeconds();

  int64_t step_ = 0;
  std::string phase_;
  RecordClock clock_;
  PhaseTimes phase_times_;
  // The sum of blocking_seconds over the checkpoint records.
  double blocking_seconds_ = 0;
  bool is_self_reported_ = false;
  v1::RankRecord newest_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_RANK_ACCOUNT_H_
