// Lookup of jobs and nodes named in requests.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_REFERENCES_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_REFERENCES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// The job created by an earlier submission with this id; nullopt if none. The job may be archived.
// Only the archive knows the ids of jobs archived long ago.
std::optional<int64_t> FindJobByRequestId(const ClusterState& state, const std::string& request_id);

// Number of the job in the state named by "17", "name" or "@last". INVALID_ARGUMENT, NOT_FOUND.
// Archived jobs are only in the archive (store/job_archive.h).
absl::StatusOr<int64_t> FindJob(const ClusterState& state, const std::string& reference);

// FAILED_PRECONDITION, for a request to stop, pause or resume an ended job.
absl::Status EndedAlready(const v1::Job& job);

// The node with this id or name. INVALID_ARGUMENT (no name, or several nodes have it), NOT_FOUND.
absl::StatusOr<std::string> FindNode(const ClusterState& state, const std::string& reference);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_REFERENCES_H_
