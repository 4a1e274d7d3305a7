#include "controller/core/decide/references.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/core/state/jobs/array_elements.h"
#include "controller/core/support/text.h"
#include "proto/contract/limits.h"
#include "proto/json/enum_text.h"

namespace trainyard::controller {

absl::Status EndedAlready(const v1::Job& job) {
  return absl::FailedPreconditionError(
      absl::StrCat(JobText(job), " has ended already: ", EnumText(job.state())));
}

absl::StatusOr<int64_t> FindJob(const ClusterState& state, const std::string& reference) {
  if (reference.empty() || reference.size() > kMaxReasonBytes) {
    return absl::InvalidArgumentError("name a job by its number, its name, or @last");
  }
  if (reference == "@last") {
    if (state.jobs.contains(state.newest_job_id)) return state.newest_job_id;
    return absl::NotFoundError("there is no job yet; submit one with `trainyard submit job.yaml`");
  }
  int64_t id = 0;
  const bool is_number = absl::SimpleAtoi(reference, &id);
  if (is_number && state.jobs.contains(id)) return id;
  if (is_number && IsArchived(state, id)) {
    return absl::NotFoundError(absl::StrCat("job ", id, " has ended and is archived or deleted"));
  }
  if (const JobEntry* named = NewestOfName(state, reference)) return named->job.id();
  if (const v1::Job* array = ArrayOfName(state, reference)) {
    return absl::NotFoundError(
        absl::StrCat("the element `", reference, "` of ", JobText(*array),
                     " is not a job; elements become jobs when they can start. `trainyard array ",
                     array->name(), "` lists them"));
  }
  return absl::NotFoundError(
      absl::StrCat("there is no job `", reference, "`; `trainyard ps --all` lists the jobs"));
}

absl::StatusOr<std::string> FindNode(const ClusterState& state, const std::string& reference) {
  if (reference.empty() || reference.size() > kMaxReasonBytes) {
    return absl::InvalidArgumentError("name a node by its id or its name");
  }
  if (state.nodes.contains(reference)) return reference;
  std::string found;
  for (const auto& [id, entry] : state.nodes) {
    if (entry.node.name() != reference) continue;
    if (!found.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("several nodes are called `", reference,
                                                     "`; use an id: ", found, " or ", id));
    }
    found = id;
  }
  if (!found.empty()) return found;
  return absl::NotFoundError(
      absl::StrCat("there is no node `", reference, "`; `trainyard nodes` lists the nodes"));
}

std::optional<int64_t> FindJobByRequestId(const ClusterState& state,
                                          const std::string& request_id) {
  const auto found = state.job_by_request_id.find(request_id);
  if (request_id.empty() || found == state.job_by_request_id.end()) return std::nullopt;
  return found->second;
}

}  // namespace trainyard::controller
