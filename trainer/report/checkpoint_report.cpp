#include "trainer/report/checkpoint_report.h"

#include <utility>

#include "proto/contract/telemetry_keys.h"
#include "trainer/report/slow_save.h"

namespace trainyard::trainer {

CheckpointReport::CheckpointReport(TelemetryWriter& telemetry, RunReport& report,
                                   std::string metric, double stop_grace_seconds)
    : telemetry_(telemetry),
      report_(report),
      metric_(std::move(metric)),
      stop_grace_seconds_(stop_grace_seconds) {}

void CheckpointReport::Report(const CheckpointEvent& event) {
  WriteTelemetry(event);
  report_.Checkpoint(event);
  if (event.kind == CheckpointEvent::Kind::kPublished) WarnOfSlowSave(event);
}

void CheckpointReport::WriteTelemetry(const CheckpointEvent& event) {
  if (event.is_unshared) {
    const bool is_blocked = event.kind == CheckpointEvent::Kind::kBlocked;
    telemetry_.WriteAlert(event.step, telemetry::kCheckpointUnshared,
                          is_blocked ? BlockedSaveText(event) : event.message);
  } else if (event.kind == CheckpointEvent::Kind::kFailed) {
    telemetry_.WriteAlert(event.step, telemetry::kCheckpointFailed, event.message);
  } else if (event.kind == CheckpointEvent::Kind::kBlocked) {
    telemetry_.WriteAlert(event.step, telemetry::kCheckpointBlocked, BlockedSaveText(event));
  } else if (event.kind == CheckpointEvent::Kind::kUnlocked) {
    telemetry_.WriteAlert(event.step, "checkpoint_unlocked", event.message);
  } else {
    telemetry_.WriteCheckpoint({event.step, event.attempt, event.path, event.bytes,
                                event.blocking_seconds, event.total_seconds,
                                event.kind == CheckpointEvent::Kind::kDeleted,
                                event.loss.has_value() ? metric_ : "", event.loss.value_or(0)});
  }
}

void CheckpointReport::WarnOfSlowSave(const CheckpointEvent& event) {
  if (slow_save_reported_) return;
  const std::string text = SlowSaveText({event.total_seconds, event.bytes}, stop_grace_seconds_);
  if (text.empty()) return;
  slow_save_reported_ = true;
  telemetry_.WriteAlert(event.step, "checkpoint_too_slow", text);
  report_.Note(text);
}

}  // namespace trainyard::trainer
