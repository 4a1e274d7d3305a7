#include "controller/core/explain/array_reason.h"

#include <ranges>
#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/state/jobs/array_elements.h"
#include "controller/core/support/text.h"

namespace trainyard::controller {
namespace {

// Returns the first element that waits for slots, or nullptr.
const v1::Job* WaitingElement(const ClusterState& state, const v1::Job& array) {
  const v1::Job* first = nullptr;
  for (const int64_t id : LiveElements(state, array.id()) | std::views::reverse) {
    const v1::Job& job = state.jobs.at(id).job;
    if (job.state() == v1::JOB_STATE_QUEUED) first = &job;
  }
  return first;
}

std::string WhyNoFurther(const ClusterState& state, const JobEntry& entry) {
  const v1::Job& array = entry.job;
  const auto live = static_cast<int64_t>(LiveElements(state, array.id()).size());
  if (entry.stop_requested) return "; the array is being stopped, so no further element starts";
  if (IsWholeCreated(array)) return "; the array ends after its elements";
  if (const v1::Job* waiting = WaitingElement(state, array)) {
    return absl::StrCat("; the next element to start, ", JobText(*waiting), ", waits for slots");
  }
  if (array.spec().has_max_concurrent() && live >= array.spec().max_concurrent()) {
    return absl::StrCat("; `max_concurrent` is ", array.spec().max_concurrent(),
                        ", so the next element starts when another one ends");
  }
  return "";
}

}  // namespace

v1::PendingReason WhyArray(const ClusterState& state, const JobEntry& array) {
  const v1::ArrayCounts& counts = array.job.array();
  const auto live = static_cast<int64_t>(LiveElements(state, array.job.id()).size());
  v1::PendingReason reason;
  reason.set_code(v1::PENDING_CODE_ARRAY);
  reason.set_message(
      absl::StrCat("has ", Counted(counts.elements(), "element"), ": ", live, " are jobs now, ",
                   counts.succeeded() + counts.failed() + counts.stopped(), " have ended (",
                   counts.failed(), " failed), ", counts.elements() - counts.created(),
                   " have not started", WhyNoFurther(state, array)));
  const v1::Job* waiting = WaitingElement(state, array.job);
  reason.set_advice(waiting != nullptr
                        ? absl::StrCat("`trainyard why ", waiting->id(), "` explains the wait")
                        : absl::StrCat("`trainyard array ", array.job.id(),
                                       "` lists the elements and their results"));
  return reason;
}

}  // namespace trainyard::controller
