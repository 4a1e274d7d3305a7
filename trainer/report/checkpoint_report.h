// Reports the saves of checkpoints to the user and to the worker.
#ifndef TRAINYARD_TRAINER_REPORT_CHECKPOINT_REPORT_H_
#define TRAINYARD_TRAINER_REPORT_CHECKPOINT_REPORT_H_

#include <string>

#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/report/run_report.h"
#include "trainer/telemetry/telemetry_writer.h"

namespace trainyard::trainer {

// Must be used on the checkpoint writer's thread.
class CheckpointReport {
 public:
  // `metric` is the metric by which checkpoints are compared. stop_grace_seconds is the time
  // between SIGTERM and SIGKILL. `telemetry` and `report` must outlive this object.
  CheckpointReport(TelemetryWriter& telemetry, RunReport& report, std::string metric,
                   double stop_grace_seconds);

  void Report(const CheckpointEvent& event);

 private:
  void WriteTelemetry(const CheckpointEvent& event);
  void WarnOfSlowSave(const CheckpointEvent& event);

  TelemetryWriter& telemetry_;
  RunReport& report_;
  const std::string metric_;
  const double stop_grace_seconds_;
  bool slow_save_reported_ = false;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_CHECKPOINT_REPORT_H_
