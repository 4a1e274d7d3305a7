// Finds the jobs that a submitted job names in `after`.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_DEPENDENCIES_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_DEPENDENCIES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "controller/core/requests/submission.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Returns the jobs named in `spec.after`, each once. A job can name only jobs submitted before it,
// and its list never changes. Cycles are therefore impossible. INVALID_ARGUMENT: a reference names
// no job. FAILED_PRECONDITION: a job has ended without success.
absl::StatusOr<std::vector<v1::Prerequisite>> FindPrerequisites(
    const ClusterState& state, const v1::JobSpec& spec, const ArchivedPrerequisites& archived);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_DEPENDENCIES_H_
