// Deletion of ended jobs: which jobs may be deleted, and which checkpoints are removed together
// with a job.
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

// Returns OK if the job has ended and no node may still run a process of the job. Otherwise returns
// FAILED_PRECONDITION; the message states the reason.
absl::Status CheckDeletable(const ClusterState& state, const JobEntry& entry);

struct CheckpointsOfDeletion {
  // Directories that the controller may remove, each listed once.
  std::vector<std::string> removable;
  std::vector<v1::KeptCheckpoint> kept;
};

// A directory that a job uses, as the normalized path from its job file.
struct DirectoryOfJob {
  int64_t job_id = 0;
  std::string path;
};

// Returns the checkpoint directories of all other jobs in the state, and the resume_from paths of
// those jobs that have not ended. Different paths may lead to the same directory;
// controller/api/deletion/directory_use.h compares the directories themselves.
std::vector<DirectoryOfJob> DirectoriesOfOthers(const ClusterState& state, int64_t job_id);

// Divides the job's checkpoints into removable and kept ones. The paths are untrusted, because they
// come from trainers and users. Therefore a checkpoint is removable only if it is within the job's
// own directory under CoreOptions::checkpoint_root, and no other job writes or reads there.
CheckpointsOfDeletion SortCheckpoints(const ClusterState& state, const JobEntry& entry,
                                      const CoreOptions& options);

// Returns the event that deletes the job. NOT_FOUND: the job is neither in the state nor passed
// with the request as an archived job. INVALID_ARGUMENT: a checkpoint is not removable. The errors
// of CheckDeletable are returned as well.
absl::StatusOr<std::vector<v1::Event>> DecideDeletion(const ClusterState& state,
                                                      const DeleteJob& deletion,
                                                      const CoreOptions& options, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_DECIDE_DELETION_H_
