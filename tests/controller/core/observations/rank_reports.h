// Functions that build heartbeats and telemetry of one rank.
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_OBSERVATIONS_RANK_REPORTS_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_OBSERVATIONS_RANK_REPORTS_H_

#include <cstdint>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

inline const ClusterState kNoJobs;

inline v1::Heartbeat HeartbeatOf(int64_t job_id, int64_t step, int64_t activity_ms,
                                 const std::string& phase = "train") {
  v1::Heartbeat heartbeat;
  v1::AttemptReport& report = *heartbeat.add_attempts();
  report.set_job_id(job_id);
  report.set_attempt(1);
  v1::RankReport& rank = *report.add_ranks();
  rank.set_running(true);
  rank.set_step(step);
  rank.set_last_activity_ms(activity_ms);
  rank.set_phase(phase);
  return heartbeat;
}

// Returns `heartbeat` with the worker's measurements: no new step or phase for `still_ms`, and no
// telemetry or output for `quiet_ms`.
inline v1::Heartbeat Measured(v1::Heartbeat heartbeat, int64_t still_ms, int64_t quiet_ms) {
  heartbeat.mutable_attempts(0)->mutable_ranks(0)->set_still_ms(still_ms);
  heartbeat.mutable_attempts(0)->mutable_ranks(0)->set_quiet_ms(quiet_ms);
  return heartbeat;
}

inline v1::TelemetryBatch MetricsOf(int64_t time_ms, int64_t step, double step_seconds) {
  v1::TelemetryBatch batch;
  batch.mutable_stream()->set_job_id(1);
  batch.mutable_stream()->set_attempt(1);
  v1::TelemetryRecord& record = *batch.add_records();
  record.set_time_ms(time_ms);
  record.mutable_metrics()->set_step(step);
  record.mutable_metrics()->set_total_steps(100);
  auto& values = *record.mutable_metrics()->mutable_values();
  values["loss"] = 3.5;
  values["step_seconds"] = step_seconds;
  values["tokens_per_second"] = 1000;
  return batch;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_OBSERVATIONS_RANK_REPORTS_H_
