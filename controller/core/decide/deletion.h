// Deletion of ended jobs: which may go, and which of their checkpoints may go with them.
#ifndef TRAINYARD_CONTROLLER_CORE_DECIDE_DELETION_H_
#define TRAINYARD_CONTROLLER_CORE_DECIDE_DELETION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/requests/requests.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// OK when the job has ended and no node is left that may still run something of it, else
// FAILED_PRECONDITION with the reason.
absl::Status CheckDeletable(const ClusterState& state, const JobEntry& entry);

struct CheckpointsOfDeletion {
  // Directories that the controller may remove, each once.
  std::vector<std::string> removable;
  std::vector<v1::KeptCheckpoint> kept;
};

// A directory used by a job: the path of its job file, normalised.
struct DirectoryOfJob {
  int64_t job_id = 0;
  std::string path;
};

// Checkpoint directories of all other jobs in the state, and the resume_from paths of those that
// have not ended. Two paths may lead to one directory: controller/api/directory_use.h compares the
// directories themselves.
std::vector<DirectoryOfJob> DirectoriesOfOthers(const ClusterState& state, int64_t job_id);

// Paths come from trainers and users, so only directories within the job's own directory under
// CoreOptions::checkpoint_root may be removed, and only while no other job writes or reads there.
CheckpointsOfDeletion SortCheckpoints(const ClusterState& state, const JobEntry& entry,
                                      const CoreOptions& options);

// The event that deletes the job. NOT_FOUND: it is neither in the state nor given as archived;
// codes of CheckDeletable; INVALID_ARGUMENT: a checkpoint that is not removable.
absl::StatusOr<std::vector<v1::Event>> DecideDeletion(const ClusterState& state,
                                                      const DeleteJob& deletion,
                                                      const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_DELETION_H_
