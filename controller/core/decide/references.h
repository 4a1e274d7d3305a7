// Finds the jobs and nodes that requests name.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_REFERENCES_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_REFERENCES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// Returns the job that an earlier submission with this request id created, or nullopt if there is
// none. The job may be archived. Request ids of jobs archived long ago are only in the archive.
std::optional<int64_t> FindJobByRequestId(const ClusterState& state, const std::string& request_id);

// Returns the number of the job in the state that is named by "17", "name" or "@last". Errors:
// INVALID_ARGUMENT, NOT_FOUND. Archived jobs are not found here (see store/job_archive.h).
absl::StatusOr<int64_t> FindJob(const ClusterState& state, const std::string& reference);

// Returns the FAILED_PRECONDITION error for a request to stop, pause or resume an ended job.
absl::Status EndedAlready(const v1::Job& job);

// Returns the node with this id or name. INVALID_ARGUMENT: the reference is empty, or several nodes
// have the name. NOT_FOUND.
absl::StatusOr<std::string> FindNode(const ClusterState& state, const std::string& reference);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_REFERENCES_H_
