#include "controller/core/decide/element_jobs.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "controller/core/decide/job_origin.h"
#include "controller/core/requests/submission.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/state/jobs/array_elements.h"
#include "controller/core/state/jobs/origin_list.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/support/controller_event.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/failure_policy.h"
#include "proto/jobspec/array_element.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/jobspec/rules.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

// The state of an array may keep the reasons of 1,000,000 elements.
constexpr std::size_t kMaxRefusalBytes = 300;

// Returns the number of elements that may become jobs now.
int64_t ElementsDue(const ClusterState& state, const v1::Job& array, Timestamp now) {
  const auto& live = LiveElements(state, array.id());
  int64_t placed_now = 0;
  // Waiting elements are mostly the newest ones.
  for (const int64_t id : live | std::views::reverse) {
    const JobEntry& entry = state.jobs.at(id);
    if (entry.job.state() == v1::JOB_STATE_QUEUED) return 0;
    const v1::Attempt* attempt = NewestAttempt(entry);
    if (attempt != nullptr && attempt->placed_time_ms() == now) ++placed_now;
  }
  int64_t due = std::min(std::max<int64_t>(1, placed_now),
                         array.array().elements() - array.array().created());
  if (array.spec().has_max_concurrent()) {
    due = std::min(due, array.spec().max_concurrent() - static_cast<int64_t>(live.size()));
  }
  return std::max<int64_t>(0, due);
}

v1::JobEnded EndOf(const JobEntry& entry, Timestamp now) {
  const v1::ArrayCounts& counts = entry.job.array();
  v1::JobEnded ended;
  ended.set_job_id(entry.job.id());
  const std::string summary =
      absl::StrCat(counts.succeeded(), " of ", Counted(counts.elements(), "element"),
                   " succeeded, ", counts.failed(), " failed, ", counts.stopped(), " were stopped");
  v1::Verdict& verdict = *ended.mutable_verdict();
  verdict = StoppedVerdict(entry.kill_requested, now);
  if (entry.stop_requested) {
    ended.set_state(v1::JOB_STATE_STOPPED);
    verdict.mutable_summary()->append("; " + summary);
    return ended;
  }
  const bool failed = counts.failed() > 0;
  ended.set_state(failed ? v1::JOB_STATE_FAILED : v1::JOB_STATE_SUCCEEDED);
  verdict.set_cause(failed ? v1::VERDICT_CAUSE_ELEMENT_FAILED : v1::VERDICT_CAUSE_COMPLETED);
  verdict.set_summary(summary);
  return ended;
}

// Turns elements of one array into jobs.
class ElementMaker {
 public:
  ElementMaker(const ClusterState& state, const CoreOptions& options, const JobEntry& array)
      : state_(state), options_(options), array_(array), origins_(OriginsIn(array.origin_list)) {}

  // Returns the submission of an element, or the reason why it cannot become a job.
  v1::Event Make(const Matrix& matrix, int64_t index, int64_t job_id, Timestamp now) const {
    v1::Event event = ControllerEvent(now);
    auto element = MakeElement(array_.job.spec(), origins_, matrix, index);
    absl::Status status = element.status();
    if (status.ok()) status = Complete(job_id, *element);
    if (!status.ok()) {
      event.mutable_array_element_refused()->set_job_id(array_.job.id());
      event.mutable_array_element_refused()->set_index(index);
      event.mutable_array_element_refused()->set_reason(
          std::string(Utf8Prefix(std::string(status.message()), kMaxRefusalBytes)));
      return event;
    }
    v1::JobSubmitted& submitted = *event.mutable_job_submitted();
    submitted.set_job_id(job_id);
    submitted.set_user(array_.job.user());
    submitted.set_array_id(array_.job.id());
    submitted.set_array_index(index);
    submitted.set_origin_list(PackOrigins(element->origins));
    const std::string& start = element->spec.checkpoint().resume_from();
    if (auto origin = OriginOfCheckpoint(state_, start, options_.checkpoint_root)) {
      *submitted.mutable_resumed_from() = *std::move(origin);
    }
    *submitted.mutable_spec() = std::move(element->spec);
    return event;
  }

 private:
  // Sets what the settings of the array do not determine, and checks the result.
  absl::Status Complete(int64_t job_id, ChangedSpec& element) const {
    const auto problems = CheckSubmission(element.spec, element.origins);
    if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
    // The array may have been moved since it was submitted.
    element.spec.set_queue(QueueOf(array_.job));
    element.spec.set_priority(array_.job.priority());
    if (!IsCheckpointDirectoryUnset(element.spec)) return absl::OkStatus();
    element.origins["checkpoint.dir"] = kDerivedOrigin;
    element.spec.mutable_checkpoint()->set_dir(
        absl::StrCat(options_.checkpoint_root, "/", job_id, "-", element.spec.name()));
    return CheckDirectoryIsFree(state_, element.spec);
  }

  const ClusterState& state_;
  const CoreOptions& options_;
  const JobEntry& array_;
  const Origins origins_;
};

}  // namespace

std::vector<v1::Event> ArrayEventsDue(const ClusterState& state, const CoreOptions& options,
                                      Timestamp now) {
  std::vector<v1::Event> events;
  int64_t job_id = state.next_job_id;
  for (const int64_t array_id : state.open_arrays) {
    const JobEntry& array = state.jobs.at(array_id);
    if (array.stop_requested || IsWholeCreated(array.job)) {
      if (!LiveElements(state, array_id).empty()) continue;
      *events.emplace_back(ControllerEvent(now)).mutable_job_ended() = EndOf(array, now);
      continue;
    }
    const int64_t left = kElementsPerPass - static_cast<int64_t>(events.size());
    const int64_t due = std::min(left, ElementsDue(state, array.job, now));
    if (due <= 0) continue;
    // Cannot fail: the matrix was checked when the array was submitted.
    const absl::StatusOr<Matrix> matrix = Matrix::Of(array.job.spec());
    const ElementMaker maker(state, options, array);
    for (int64_t i = 0; i < due; ++i) {
      events.push_back(maker.Make(*matrix, array.job.array().created() + i, job_id, now));
      if (events.back().has_job_submitted()) ++job_id;
    }
  }
  return events;
}

}  // namespace trainyard::controller
