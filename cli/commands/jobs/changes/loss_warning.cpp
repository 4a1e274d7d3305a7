#include "cli/commands/jobs/changes/loss_warning.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

// Returns "3338 steps (28m10s of work)".
std::string WorkText(const v1::JobHealth& health, Timestamp now) {
  const std::string steps =
      absl::StrCat(health.steps_at_risk(), health.steps_at_risk() == 1 ? " step" : " steps");
  if (health.at_risk_since_ms() == 0) return steps;
  return absl::StrCat(steps, " (", ShortDuration(now - health.at_risk_since_ms()), " of work)");
}

std::string SinceText(const v1::JobHealth& health) {
  return health.saved_step() > 0 ? absl::StrCat("since step ", health.saved_step())
                                 : "since the start";
}

bool Has(const v1::JobHealth& health, v1::HealthWord word) {
  return std::ranges::any_of(health.findings(),
                             [=](const auto& finding) { return finding.word() == word; });
}

}  // namespace

std::string LostStepsText(EndingAction action, const v1::JobHealth& health, Timestamp now) {
  if (health.steps_at_risk() == 0) return "";
  const std::string work = WorkText(health, now);
  if (action == EndingAction::kKill) {
    return absl::StrCat("killing now loses ", work, " ", SinceText(health));
  }
  const char* what = action == EndingAction::kStop ? "stopping" : "pausing";
  if (Has(health, v1::HEALTH_WORD_UNSAVED)) {
    return absl::StrCat("checkpoints have failed ", SinceText(health), ": ", what, " now loses ",
                        work);
  }
  if (Has(health, v1::HEALTH_WORD_STALLED)) {
    return absl::StrCat("the job is stalled and may be unable to save: ", what, " now may lose ",
                        work);
  }
  return "";
}

absl::StatusOr<std::vector<std::string>> LossWarnings(EndingAction action,
                                                      const std::vector<std::string>& jobs,
                                                      Context& context) {
  std::vector<std::string> lines;
  for (const std::string& job : jobs) {
    v1::GetJobRequest request;
    request.set_job(job);
    const absl::StatusOr<v1::GetJobResponse> response = context.client.GetJob(request);
    if (absl::IsUnavailable(response.status())) return response.status();
    if (!response.ok()) continue;
    const v1::Job& found = response->job();
    const std::string loss = LostStepsText(action, found.health(), context.console.Now());
    if (!loss.empty()) {
      lines.push_back(absl::StrCat("job ", found.id(), " (", found.name(), "): ", loss));
    }
  }
  return lines;
}

}  // namespace trainyard::cli
