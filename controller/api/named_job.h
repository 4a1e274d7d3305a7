// Jobs that requests name, wherever they are: in the state or in the archive.
#ifndef TRAINYARD_CONTROLLER_API_NAMED_JOB_H_
#define TRAINYARD_CONTROLLER_API_NAMED_JOB_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "controller/api/api.h"
#include "controller/api/cluster_loop.h"

namespace trainyard::controller {

// The entry is valid only while the function runs.
using WithJob =
    std::function<void(const absl::StatusOr<const JobEntry*>& entry, const ClusterView& view)>;

// Finds the job that "17", "name" or "@last" names and calls `work` on the loop thread. An archived
// job is read on a reader thread first. INVALID_ARGUMENT, NOT_FOUND (of a deleted job that a number
// names: says when and by whom it was deleted), RESOURCE_EXHAUSTED (too many queries wait),
// DATA_LOSS (the record of an archived job is damaged).
void ReadJob(const Api& api, const std::string& reference, WithJob work);

// The archived job that a reference names that is not in the state. On a reader thread.
// `newest_job_id`: as in ClusterState.
JobArchive::Found FindArchived(JobArchive& archive, const std::string& reference,
                               int64_t newest_job_id);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_API_NAMED_JOB_H_
