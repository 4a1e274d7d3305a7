// Finds the jobs that a submitted job names in `after`.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_DEPENDENCIES_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_DEPENDENCIES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/requests/submission.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Returns the conditions in `spec.after`, each once. A job can name only jobs submitted before it,
// and its list never changes. Cycles are therefore impossible. INVALID_ARGUMENT: an entry names no
// job, its condition can never be met, or it contradicts another entry. FAILED_PRECONDITION: a job
// has ended without meeting its condition. A job that ended within the last return_within_ms is
// accepted if a checkpoint is missing, because the report of the checkpoint may still arrive.
absl::StatusOr<std::vector<v1::Prerequisite>> FindPrerequisites(
    const ClusterState& state, const v1::JobSpec& spec, const ArchivedPrerequisites& archived,
    const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_DEPENDENCIES_H_
