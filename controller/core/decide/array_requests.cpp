#include "controller/core/decide/array_requests.h"

#include <iterator>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/core/decide/references.h"
#include "controller/core/state/jobs/array_elements.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {

absl::StatusOr<std::vector<v1::Event>> DecideWithElements(const ClusterState& state,
                                                          const std::string& reference,
                                                          const JobDecision& decide) {
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<v1::Event> events, decide(reference));
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, reference));
  for (const int64_t element : LiveElements(state, job_id)) {
    auto more = decide(absl::StrCat(element));
    if (absl::IsFailedPrecondition(more.status())) continue;
    TRAINYARD_RETURN_IF_ERROR(more.status());
    std::move(more->begin(), more->end(), std::back_inserter(events));
  }
  return events;
}

std::vector<v1::Event> DecideArrayStop(const ClusterState& state, const StopJob& stop,
                                       const JobEntry& array, Timestamp now) {
  const bool kill = stop.request.kill();
  const bool repeated = array.stop_requested && (array.kill_requested || !kill);
  if (repeated || LiveElements(state, array.job.id()).empty()) return {};
  v1::Event event = EventBy(stop.principal, now);
  event.mutable_job_stop_requested()->set_job_id(array.job.id());
  event.mutable_job_stop_requested()->set_kill(kill);
  return {std::move(event)};
}

absl::Status CheckElementNames(const ClusterState& state, const v1::JobSpec& spec) {
  if (const v1::Job* array = ArrayOfName(state, spec.name())) {
    return absl::AlreadyExistsError(
        absl::StrCat("the name `", spec.name(), "` belongs to an element of the array ",
                     JobText(*array), ", which has not ended; give this job another name"));
  }
  const absl::StatusOr<Matrix> matrix = Matrix::Of(spec);
  if (!IsArray(spec) || !matrix.ok()) return matrix.status();
  const std::string prefix = spec.name() + ".";
  for (auto found = state.jobs_by_name.lower_bound(prefix);
       found != state.jobs_by_name.end() && found->first.starts_with(prefix); ++found) {
    int64_t index = 0;
    const v1::Job& job = state.jobs.at(*found->second.rbegin()).job;
    const bool is_number = absl::SimpleAtoi(found->first.substr(prefix.size()), &index);
    if (HasEnded(job.state()) || !is_number || index < 0 || index >= matrix->size()) continue;
    return absl::AlreadyExistsError(
        absl::StrCat(JobText(job), " has not ended and has the name of element ", index,
                     " of this array; stop it first, or give the array another name"));
  }
  return absl::OkStatus();
}

}  // namespace trainyard::controller
