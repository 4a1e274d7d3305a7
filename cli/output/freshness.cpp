#include "cli/output/freshness.h"

#include <algorithm>

namespace trainyard::cli {
namespace {

constexpr double kFreshMs = 30000;
constexpr double kFreshSteps = 3;

}  // namespace

bool HasFreshRate(const v1::Job& job, Timestamp now) {
  if (job.state() != v1::JOB_STATE_RUNNING) return false;
  const double limit_ms = std::max(kFreshMs, kFreshSteps * 1000 * job.progress().step_seconds());
  return static_cast<double>(now - job.progress().time_ms()) <= limit_ms;
}

v1::Job WithoutOldRate(const v1::Job& job, Timestamp now) {
  v1::Job shown = job;
  if (job.has_progress() && !HasFreshRate(job, now)) {
    shown.mutable_progress()->clear_tokens_per_second();
    shown.mutable_progress()->clear_eta_seconds();
  }
  return shown;
}

}  // namespace trainyard::cli
