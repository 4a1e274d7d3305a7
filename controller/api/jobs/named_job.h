// Finds the job that a request names, in the state or in the archive.
#ifndef TRAINYARD_CONTROLLER_API_JOBS_NAMED_JOB_H_
#define TRAINYARD_CONTROLLER_API_JOBS_NAMED_JOB_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "controller/api/context/api.h"
#include "controller/core/schedule/cluster_view.h"

namespace trainyard::controller {

// The entry is valid only until the function returns.
using WithJob =
    std::function<void(const absl::StatusOr<const JobEntry*>& entry, const ClusterView& view)>;

// Finds the job named by "17", "name" or "@last", and calls `work` on the loop thread. An archived
// job is first read on a reader thread. INVALID_ARGUMENT. NOT_FOUND: no such job; for the id of a
// deleted job, the error states when and by whom the job was deleted. RESOURCE_EXHAUSTED: too many
// queries are waiting. DATA_LOSS: the record of an archived job is damaged.
void ReadJob(const Api& api, const std::string& reference, WithJob work);

// Finds the archived job for a reference that matches no job in the state. `newest_job_id` is
// ClusterState::newest_job_id. Call on a reader thread.
JobArchive::Found FindArchived(JobArchive& archive, const std::string& reference,
                               int64_t newest_job_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_JOBS_NAMED_JOB_H_
