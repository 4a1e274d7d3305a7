// Jobs as shown to users: the durable state merged with the newest observations.
#ifndef TRAINYARD_CONTROLLER_API_JOBS_JOB_VIEW_H_
#define TRAINYARD_CONTROLLER_API_JOBS_JOB_VIEW_H_

#include <optional>
#include <string>

#include "controller/core/explain/pending_reason.h"
#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns true if the rate and the ETA of the progress are shown: the job runs and the progress is
// recent (proto/support/freshness.h), or the job has ended.
bool HasShownRate(v1::JobState state, const v1::Progress& progress, Timestamp now);

// Returns the complete job with its progress and health. The job's rate and ETA are 0 if these
// values are out of date. Each attempt includes its last step and time use.
v1::Job FullJob(const JobEntry& entry, const ClusterView& view);

// Returns the job as shown in lists: with its newest attempt only, and without ranks, origins and
// checkpoints.
v1::Job ListedJob(const JobEntry& entry, const ClusterView& view);

// Removes the fields that lists omit.
void TrimForList(v1::Job& job);

// Returns the reason why a job waits, or why a running job does not run as expected
// (running_hint.h), with the other reasons (other_reasons.h). Returns nullopt if there is none.
std::optional<v1::PendingReason> WaitingReason(const JobEntry& entry, const ClusterView& view);
// Works like WaitingReason above, but without the other reasons, and is faster for many jobs of one
// view.
std::optional<v1::PendingReason> WaitingReason(const JobEntry& entry, const ClusterView& view,
                                               PendingExplainer& explainer);

// Returns the alert of an entry whose event is an AlertRaised.
v1::Alert AlertOf(const v1::EventEntry& entry);

// Finds the job that a request names among the jobs in the state. For jobs that may be archived,
// use ReadJob (named_job.h). Errors: INVALID_ARGUMENT, NOT_FOUND.
absl::StatusOr<const JobEntry*> FindNamedJob(const ClusterView& view, const std::string& reference);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOBS_JOB_VIEW_H_
