#include "controller/core/decide/dependencies.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/references.h"
#include "controller/core/support/text.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

absl::StatusOr<v1::Prerequisite> FindPrerequisite(const ClusterState& state,
                                                  const std::string& reference,
                                                  const ArchivedPrerequisites& archived) {
  const absl::StatusOr<int64_t> id = FindJob(state, reference);
  if (id.ok()) return AsPrerequisite(state.jobs.at(*id).job);
  const auto found = archived.find(reference);
  if (found != archived.end()) return found->second;
  return absl::InvalidArgumentError(absl::StrCat("after: ", id.status().message()));
}

absl::Status CheckCanSucceed(const v1::Prerequisite& prerequisite) {
  if (!HasEnded(prerequisite.outcome()) || prerequisite.outcome() == v1::JOB_STATE_SUCCEEDED) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "after: ", PrerequisiteText(prerequisite), " has ended without success (",
      EnumText(prerequisite.outcome()), "), so this job could never start; submit that job again, ",
      "and name the new one in `after`"));
}

}  // namespace

absl::StatusOr<std::vector<v1::Prerequisite>> FindPrerequisites(
    const ClusterState& state, const v1::JobSpec& spec, const ArchivedPrerequisites& archived) {
  std::vector<v1::Prerequisite> prerequisites;
  for (const std::string& reference : spec.after()) {
    TRAINYARD_ASSIGN_OR_RETURN(v1::Prerequisite found,
                               FindPrerequisite(state, reference, archived));
    TRAINYARD_RETURN_IF_ERROR(CheckCanSucceed(found));
    const bool is_listed = std::ranges::any_of(prerequisites, [&](const v1::Prerequisite& other) {
      return other.job_id() == found.job_id();
    });
    if (!is_listed) prerequisites.push_back(std::move(found));
  }
  return prerequisites;
}

}  // namespace trainyard::controller
