#include "controller/core/explain/launcher_hint.h"

#include "absl/strings/str_cat.h"
#include "controller/core/support/text.h"

namespace trainyard::controller {

std::optional<planner::Finding> LauncherFinding(const Observations& observations,
                                                const JobEntry& entry) {
  const v1::Attempt* attempt = NewestAttempt(entry);
  if (attempt == nullptr) return std::nullopt;
  const AttemptObservation* observed =
      ObservedAttempt(observations, {entry.job.id(), attempt->number()});
  if (observed == nullptr || observed->launcher_restarts.count == 0) return std::nullopt;
  return planner::Finding{
      .what = absl::StrCat("launchers have restarted ranks ",
                           Counted(observed->launcher_restarts.count, "time"), " in this attempt"),
      .why = observed->launcher_restarts.newest,
      .right =
          "set the launcher's own restarts to 0, such as `torchrun --max-restarts 0`. Trainyard "
          "then restarts the whole gang from the newest checkpoint, counts the restart, and "
          "records the cause"};
}

}  // namespace trainyard::controller
