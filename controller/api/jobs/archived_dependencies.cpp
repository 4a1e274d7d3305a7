#include "controller/api/jobs/archived_dependencies.h"

#include <string>

#include "controller/api/jobs/named_job.h"
#include "proto/jobspec/fields/after_entry.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {

bool MayNameArchived(const JobArchive& archive, const v1::JobSpec& spec) {
  return spec.after_size() > 0 && archive.HasJobs();
}

absl::StatusOr<ArchivedPrerequisites> FindArchivedDependencies(JobArchive& archive,
                                                               const v1::JobSpec& spec) {
  ArchivedPrerequisites jobs;
  for (const std::string& text : spec.after()) {
    const auto entry = ParseAfterEntry(text);
    // The check of the spec refuses an invalid entry.
    if (!entry.ok()) continue;
    // The newest job is never archived, so "@last" is not looked up.
    TRAINYARD_ASSIGN_OR_RETURN(const auto found, FindArchived(archive, entry->job, 0));
    if (found.has_value()) jobs[text] = AsPrerequisite(found->job(), *entry);
  }
  return jobs;
}

}  // namespace trainyard::controller
