#include "controller/core/explain/dependency_reason.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/support/text.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_state.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kJobsNamed = 5;

std::string StateText(const ClusterState& state, const v1::Prerequisite& prerequisite) {
  if (HasEnded(prerequisite.outcome())) return EnumText(prerequisite.outcome());
  const JobEntry* entry = FindEntry(state, prerequisite.job_id());
  return entry == nullptr ? "unknown" : EnumText(entry->job.state());
}

}  // namespace

v1::PendingReason WhyDependent(const ClusterState& state, const v1::Job& job) {
  v1::PendingReason reason;
  reason.set_code(v1::PENDING_CODE_DEPENDENCY);
  std::vector<std::string> names;
  std::size_t more = 0;
  for (const v1::Prerequisite& prerequisite : job.after()) {
    if (prerequisite.outcome() == v1::JOB_STATE_SUCCEEDED) continue;
    if (names.size() == kJobsNamed) {
      ++more;
      continue;
    }
    if (names.empty()) {
      reason.set_advice(absl::StrCat("`trainyard why ", prerequisite.job_id(), "` explains ",
                                     PrerequisiteText(prerequisite)));
    }
    names.push_back(absl::StrCat(PrerequisiteText(prerequisite), ", which is ",
                                 StateText(state, prerequisite)));
  }
  if (more > 0) names.push_back(Counted(static_cast<int64_t>(more), "more job"));
  reason.set_message(
      absl::StrCat("waits for the success of ", absl::StrJoin(names, "; of "), " (`after`)"));
  return reason;
}

}  // namespace trainyard::controller
