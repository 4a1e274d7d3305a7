// Lookup of the jobs and nodes that a request names.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_REFERENCES_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_REFERENCES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/state/cluster_state.h"

namespace trainyard::controller {

// The job that an earlier submit with this id made; nothing when there was none. The job may be
// archived; of a job that was archived long ago the archive alone knows the id.
std::optional<int64_t> FindJobByRequestId(const ClusterState& state, const std::string& request_id);

// The job of the state that "17", "name" or "@last" names; INVALID_ARGUMENT, NOT_FOUND. An archived
// job is found in the archive only (store/job_archive.h).
absl::StatusOr<int64_t> FindJob(const ClusterState& state, const std::string& reference);

// FAILED_PRECONDITION: the error of a stop of a job that has ended.
absl::Status EndedAlready(const v1::Job& job);

// The node with this id or name; INVALID_ARGUMENT (none is given, or several have that name),
// NOT_FOUND.
absl::StatusOr<std::string> FindNode(const ClusterState& state, const std::string& reference);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_REFERENCES_H_
