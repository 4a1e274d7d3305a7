#include "controller/core/explain/dependency_reason.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/support/text.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kConditionsNamed = 5;

// Returns, for example, "is running" or, if the condition is a checkpoint, "is running and has a
// checkpoint at step 4000".
std::string StateText(const ClusterState& state, const v1::Prerequisite& prerequisite) {
  const bool ended = HasEnded(prerequisite.outcome());
  const JobEntry* entry = FindEntry(state, prerequisite.job_id());
  const std::string text = ended
                               ? absl::StrCat("has ended (", EnumText(prerequisite.outcome()), ")")
                           : entry == nullptr ? "is unknown"
                                              : absl::StrCat("is ", EnumText(entry->job.state()));
  if (ConditionOf(prerequisite) != v1::JOB_CONDITION_CHECKPOINT) return text;
  if (ended) return absl::StrCat(text, " and may still report a checkpoint");
  if (entry == nullptr || entry->job.checkpoints().empty()) {
    return absl::StrCat(text, " and has no checkpoint yet");
  }
  return absl::StrCat(text, " and has a checkpoint at step ",
                      entry->job.checkpoints().rbegin()->step());
}

// Returns, for example, "for the success of job 12 (tokens), which is running".
std::string WaitText(const ClusterState& state, const v1::Prerequisite& prerequisite) {
  const bool is_checkpoint = ConditionOf(prerequisite) == v1::JOB_CONDITION_CHECKPOINT;
  return absl::StrCat(is_checkpoint ? "for a " : "for the ", ConditionText(prerequisite), " of ",
                      PrerequisiteText(prerequisite), ", which ", StateText(state, prerequisite));
}

}  // namespace

v1::PendingReason WhyDependent(const ClusterState& state, const v1::Job& job) {
  v1::PendingReason reason;
  reason.set_code(v1::PENDING_CODE_DEPENDENCY);
  std::vector<std::string> waits;
  int64_t more = 0;
  for (const v1::Prerequisite& prerequisite : job.after()) {
    if (IsMet(prerequisite)) continue;
    if (waits.size() == kConditionsNamed) {
      ++more;
      continue;
    }
    if (waits.empty()) {
      reason.set_advice(absl::StrCat("`trainyard why ", prerequisite.job_id(), "` explains ",
                                     PrerequisiteText(prerequisite)));
    }
    waits.push_back(WaitText(state, prerequisite));
  }
  if (more > 0) waits.push_back(absl::StrCat("for ", Counted(more, "more condition")));
  reason.set_message(absl::StrCat("waits ", absl::StrJoin(waits, "; "), " (`after`)"));
  return reason;
}

}  // namespace trainyard::controller
