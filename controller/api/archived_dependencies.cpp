#include "controller/api/archived_dependencies.h"

#include <string>

#include "controller/api/named_job.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {

absl::StatusOr<ArchivedPrerequisites> FindArchivedDependencies(JobArchive& archive,
                                                               const v1::JobSpec& spec) {
  ArchivedPrerequisites jobs;
  for (const std::string& reference : spec.after()) {
    // The newest job is never archived, so "@last" is not looked up.
    TRAINYARD_ASSIGN_OR_RETURN(const auto found, FindArchived(archive, reference, 0));
    if (found.has_value()) jobs[reference] = AsPrerequisite(found->job());
  }
  return jobs;
}

}  // namespace trainyard::controller
