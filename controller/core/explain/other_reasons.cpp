#include "controller/core/explain/other_reasons.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/explain/dependency_reason.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/health/node_health.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/state/jobs/job_state_machine.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/state/jobs/prerequisites.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/support/text.h"
#include "proto/text/duration_text.h"
#include "proto/text/utf8.h"

namespace trainyard::controller {
namespace {

class OtherReasons {
 public:
  OtherReasons(const ClusterView& view, const JobEntry& entry, v1::PendingReason& reason)
      : view_(view), entry_(entry), explainer_(view), reason_(reason) {}

  void Add() {
    const v1::Job& job = entry_.job;
    if (IsDependent(job)) Add(v1::PENDING_CODE_DEPENDENCY, WhyDependent(view_.state, job));
    if (!IsDue(entry_, view_.now)) AddBackoff();
    if (HasNoLayout(view_.state, entry_)) Add(v1::PENDING_CODE_LAYOUT, WhyNoLayout(entry_));
    if (IsAtLimit(view_, job)) {
      Add(v1::PENDING_CODE_QUOTA, explainer_.WhyQuota(entry_));
    }
    AddJobsAhead();
    AddMissingSlots();
  }

 private:
  void Add(v1::PendingCode code, const v1::PendingReason& other) { Add(code, other.message()); }

  void Add(v1::PendingCode code, const std::string& message) {
    if (code == reason_.code() || reason_.others_size() == kMostOtherReasons) return;
    v1::OtherReason& other = *reason_.add_others();
    other.set_code(code);
    other.set_message(std::string(Utf8Prefix(message, kOtherReasonBytes)));
  }

  void AddBackoff() {
    const int64_t rest_ms = entry_.job.not_before_ms() - view_.now;
    Add(v1::PENDING_CODE_BACKOFF,
        absl::StrCat("waits ", DurationText(rest_ms), " after its last failure"));
  }

  // The message of a job behind the head counts the jobs before it.
  void AddJobsAhead() {
    if (reason_.code() == v1::PENDING_CODE_RESOURCES) return;
    const int position = reason_.queue_position();
    const int ahead = position > 0 ? position - 1 : explainer_.CountAhead(entry_.job);
    if (ahead == 0) return;
    Add(v1::PENDING_CODE_PRIORITY,
        absl::StrCat(Counted(ahead, "waiting job"), ahead == 1 ? " precedes" : " precede",
                     " it in the order of the queue"));
  }

  void AddMissingSlots() {
    // A recovering job needs at most the slots that it has lost.
    if (view_.state.reservations.contains(entry_.job.id())) return;
    const GangShape shape = LeastShape(entry_);
    const PlacementPass pass(view_.state, {.changing = {},
                                           .closed = ClosedNodes(view_.state, view_.now),
                                           .roots = &view_.observations.roots,
                                           .now = view_.now});
    const FittingNodes fitting = pass.CountFittingNodes(entry_, shape);
    if (fitting.count >= shape.nodes) {
      if (view_.schedule.RefusalOf(entry_.job) != Refusal::kDelaysHead) return;
      return Add(v1::PENDING_CODE_RESOURCES,
                 absl::StrCat(Counted(fitting.count, "node"),
                              " could take it, but it would delay a job that is promised a time"));
    }
    Add(v1::PENDING_CODE_RESOURCES, WhyShort(view_, entry_,
                                             {.job_id = entry_.job.id(),
                                              .fitting_nodes = fitting.count,
                                              .fitting_group = fitting.group}));
  }

  const ClusterView& view_;
  const JobEntry& entry_;
  PendingExplainer explainer_;
  v1::PendingReason& reason_;
};

// Returns true if the job gets slots later, and none now.
bool WaitsForSlots(const ClusterState& state, const JobEntry& entry) {
  const v1::Job& job = entry.job;
  return state.pending_jobs.Contains(QueueKeyOf(job)) || IsPausedOrHeld(job.state()) ||
         state.dependent_jobs.contains(job.id());
}

}  // namespace

void AddOtherReasons(const ClusterView& view, const JobEntry& entry, v1::PendingReason& reason) {
  const bool is_array = view.state.open_arrays.contains(entry.job.id());
  if (is_array || !WaitsForSlots(view.state, entry)) return;
  OtherReasons(view, entry, reason).Add();
}

}  // namespace trainyard::controller
