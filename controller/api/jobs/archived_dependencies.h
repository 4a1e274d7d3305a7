// Looks up archived jobs that a job file names in `after`.
#ifndef TRAINYARD_CONTROLLER_API_JOBS_ARCHIVED_DEPENDENCIES_H_
#define TRAINYARD_CONTROLLER_API_JOBS_ARCHIVED_DEPENDENCIES_H_

#include "absl/status/statusor.h"
#include "controller/core/requests/submission.h"
#include "controller/store/archive/job_archive.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Returns true if the spec names jobs that may be archived.
bool MayNameArchived(const JobArchive& archive, const v1::JobSpec& spec);

// Returns the archived jobs that `spec.after` names. Entries with other jobs are left out. Call on
// a reader thread.
absl::StatusOr<ArchivedPrerequisites> FindArchivedDependencies(JobArchive& archive,
                                                               const v1::JobSpec& spec);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOBS_ARCHIVED_DEPENDENCIES_H_
