#include "cli/output/terminal/freshness.h"

#include "proto/support/freshness.h"

namespace trainyard::cli {

bool HasFreshRate(const v1::Job& job, Timestamp now) {
  if (job.state() != v1::JOB_STATE_RUNNING) return false;
  return IsFresh(now - job.progress().time_ms(), job.progress().step_seconds());
}

v1::Job WithoutOldRate(const v1::Job& job, Timestamp now) {
  v1::Job shown = job;
  if (job.has_progress() && !HasFreshRate(job, now)) {
    shown.mutable_progress()->clear_tokens_per_second();
    shown.mutable_progress()->clear_eta_seconds();
    if (shown.progress().has_data()) {
      shown.mutable_progress()->mutable_data()->clear_bytes_per_second();
    }
  }
  return shown;
}

}  // namespace trainyard::cli
