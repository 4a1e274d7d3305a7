// Shows where and when a job would run, without submitting it.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_PREVIEW_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_PREVIEW_H_

#include "absl/status/statusor.h"
#include "controller/core/requests/submission.h"
#include "controller/core/schedule/cluster_view.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Checks a submission and computes its placement without creating a job. Returns the errors of
// CheckSpec, Admit and FindPrerequisites. `layout` is the chosen layout of a job with auto_layout,
// and nullptr for other jobs. `archived` contains the archived jobs that the spec names in `after`.
absl::StatusOr<v1::PlanJobResponse> PreviewJob(const ClusterView& view, const v1::JobSpec& spec,
                                               const v1::GrantedLayout* layout = nullptr,
                                               const ArchivedPrerequisites& archived = {});

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_PREVIEW_H_
