// Jobs as users see them: the durable state, merged with the newest observations.
#ifndef TRAINYARD_CONTROLLER_API_JOB_VIEW_H_
#define TRAINYARD_CONTROLLER_API_JOB_VIEW_H_

#include <optional>
#include <string>

#include "controller/core/explain/pending_reason.h"
#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The complete job with its progress, and with the last step and time use of its attempts.
v1::Job FullJob(const JobEntry& entry, const ClusterView& view);

// For lists: the newest attempt only, without ranks, origins and checkpoints.
v1::Job ListedJob(const JobEntry& entry, const ClusterView& view);

// Removes the fields omitted from lists.
void TrimForList(v1::Job& job);

// The reason why a job waits, or why a running job does not run as expected (running_hint.h);
// nullopt if there is none.
std::optional<v1::PendingReason> WaitingReason(const JobEntry& entry, const ClusterView& view);
// Like WaitingReason above, for many jobs of one view.
std::optional<v1::PendingReason> WaitingReason(const JobEntry& entry, const ClusterView& view,
                                               PendingExplainer& explainer);

// The alert in an entry whose event is an AlertRaised.
v1::Alert AlertOf(const v1::EventEntry& entry);

// Finds the job of the state named by a request. For jobs that may be archived, use ReadJob
// (named_job.h). INVALID_ARGUMENT, NOT_FOUND.
absl::StatusOr<const JobEntry*> FindNamedJob(const ClusterView& view, const std::string& reference);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOB_VIEW_H_
