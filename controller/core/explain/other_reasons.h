// The other reasons why a job waits, besides the dominant one.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_OTHER_REASONS_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_OTHER_REASONS_H_

#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/pending_reason.pb.h"

namespace trainyard::controller {

// The maximum number of other reasons of a job, and the maximum length of their messages in bytes.
inline constexpr int kMostOtherReasons = 5;
inline constexpr int kOtherReasonBytes = 300;

// Adds the other reasons to `reason`, the dominant one of WhyPending: everything else that would
// keep the job waiting if the dominant reason did not hold. The order of the reasons is fixed:
// conditions of the job, backoff, choice of the layout, limits of the queue, jobs before it, and
// missing slots. Adds nothing if the job does not wait. Meant for one job, because the free
// nodes are counted for it.
void AddOtherReasons(const ClusterView& view, const JobEntry& entry, v1::PendingReason& reason);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_OTHER_REASONS_H_
