#include "controller/core/decide/dependencies.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/references.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/support/text.h"
#include "controller/core/support/wait.h"
#include "proto/jobspec/fields/after_entry.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_kind.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

bool IsSameCondition(const v1::Prerequisite& a, const v1::Prerequisite& b) {
  return a.job_id() == b.job_id() && a.condition() == b.condition() && a.step() == b.step();
}

// Returns true if the conditions require that one job both succeeds and fails.
bool AreContrary(const v1::Prerequisite& a, const v1::Prerequisite& b) {
  const auto is_pair = [](const v1::Prerequisite& one, const v1::Prerequisite& other) {
    return one.condition() == v1::JOB_CONDITION_SUCCESS &&
           other.condition() == v1::JOB_CONDITION_FAILURE;
  };
  return a.job_id() == b.job_id() && (is_pair(a, b) || is_pair(b, a));
}

// Checks that the job can save the checkpoint for which another job waits.
absl::Status CheckCanSave(const v1::Job& job, const v1::Prerequisite& prerequisite) {
  const bool waits =
      prerequisite.condition() == v1::JOB_CONDITION_CHECKPOINT && !IsMet(prerequisite);
  if (!waits) return absl::OkStatus();
  if (IsArray(job.spec())) {
    return absl::InvalidArgumentError(
        absl::StrCat("after: ", JobText(job), " is an array and saves no checkpoints itself; wait ",
                     "for its end, as in `", job.name(), ":end`, or for one of its elements"));
  }
  const ProgramRules& rules = ProgramRulesOf(job.spec());
  if (!rules.saves) {
    return absl::InvalidArgumentError(
        absl::StrCat("after: ", JobText(job), " ", rules.text, " and saves no checkpoints; wait ",
                     "for its success or its end instead, as in `", job.name(), ":end`"));
  }
  const int64_t steps = RunsOurTrainer(job.spec()) ? job.spec().train().steps() : 0;
  if (steps == 0 || prerequisite.step() <= steps) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("after: ", JobText(job), " trains ", steps, " steps, so it never has a ",
                   ConditionText(prerequisite), "; name a step of at most ", steps));
}

absl::Status EndedWithout(const v1::Prerequisite& prerequisite) {
  const bool is_checkpoint = prerequisite.condition() == v1::JOB_CONDITION_CHECKPOINT;
  return absl::FailedPreconditionError(absl::StrCat(
      "after: ", PrerequisiteText(prerequisite), " has ended without ", is_checkpoint ? "a " : "",
      ConditionText(prerequisite), " (", EnumText(prerequisite.outcome()),
      "), so this job could never start; submit that job ",
      "again and name the new one in `after`, or change the condition"));
}

// Finds one entry of `after`. A job in the state takes precedence over an archived one.
class PrerequisiteFinder {
 public:
  PrerequisiteFinder(const ClusterState& state, const ArchivedPrerequisites& archived,
                     const CoreOptions& options, Timestamp now)
      : state_(state), archived_(archived), options_(options), now_(now) {}

  absl::StatusOr<v1::Prerequisite> Find(const std::string& text) const {
    TRAINYARD_ASSIGN_OR_RETURN(const AfterEntry entry, ParseAfterEntry(text));
    const absl::StatusOr<int64_t> id = FindJob(state_, entry.job);
    if (id.ok()) return FindInState(state_.jobs.at(*id).job, entry);
    const auto archived = archived_.find(text);
    if (archived == archived_.end()) {
      return absl::InvalidArgumentError(absl::StrCat("after: ", id.status().message()));
    }
    if (EndedUnmet(archived->second)) return EndedWithout(archived->second);
    return archived->second;
  }

 private:
  absl::StatusOr<v1::Prerequisite> FindInState(const v1::Job& job, const AfterEntry& entry) const {
    v1::Prerequisite found = AsPrerequisite(job, entry);
    TRAINYARD_RETURN_IF_ERROR(CheckCanSave(job, found));
    if (EndedUnmet(found) && !MayMeetLate(found)) return EndedWithout(found);
    return found;
  }

  bool MayMeetLate(const v1::Prerequisite& prerequisite) const {
    const Timestamp ended = prerequisite.ended_time_ms();
    return prerequisite.condition() == v1::JOB_CONDITION_CHECKPOINT &&
           !HasPassed(ended, ended + options_.return_within_ms, now_);
  }

  const ClusterState& state_;
  const ArchivedPrerequisites& archived_;
  const CoreOptions& options_;
  const Timestamp now_;
};

}  // namespace

absl::StatusOr<std::vector<v1::Prerequisite>> FindPrerequisites(
    const ClusterState& state, const v1::JobSpec& spec, const ArchivedPrerequisites& archived,
    const CoreOptions& options, Timestamp now) {
  const PrerequisiteFinder finder(state, archived, options, now);
  std::vector<v1::Prerequisite> prerequisites;
  for (const std::string& text : spec.after()) {
    TRAINYARD_ASSIGN_OR_RETURN(v1::Prerequisite found, finder.Find(text));
    for (const v1::Prerequisite& other : prerequisites) {
      if (!AreContrary(found, other)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("after: ", PrerequisiteText(found),
                       " cannot both succeed and fail; remove one of the two conditions"));
    }
    const bool is_listed = std::ranges::any_of(prerequisites, [&](const v1::Prerequisite& other) {
      return IsSameCondition(found, other);
    });
    if (!is_listed) prerequisites.push_back(std::move(found));
  }
  return prerequisites;
}

}  // namespace trainyard::controller
