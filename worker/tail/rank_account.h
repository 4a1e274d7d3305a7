// How a rank fares, by the telemetry that it writes.
#ifndef TRAINYARD_WORKER_TAIL_RANK_ACCOUNT_H_
#define TRAINYARD_WORKER_TAIL_RANK_ACCOUNT_H_

#include <cstdint>
#include <string>

#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::worker {

// A program that writes `rank` records says itself what took its time. For one that does not,
// phases are timed by their records, data_stall_seconds of its metrics are added up, and so are the
// blocking_seconds of its checkpoints: as far as they have been read, which after a restart of the
// worker is the end of the file only.
class RankAccount {
 public:
  // Records in the order of the file.
  void Note(const v1::TelemetryRecord& record);

  int64_t step() const { return step_; }
  const std::string& phase() const { return phase_; }
  const v1::RankRecord& newest() const { return newest_; }

 private:
  void NoteMetrics(const v1::MetricsRecord& metrics);
  void NotePhase(const v1::TelemetryRecord& record);

  int64_t step_ = 0;
  std::string phase_;
  int64_t phase_since_ms_ = 0;
  // Stood still for checkpoints, by their own records.
  double blocking_seconds_ = 0;
  bool says_itself_ = false;
  v1::RankRecord newest_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_RANK_ACCOUNT_H_
