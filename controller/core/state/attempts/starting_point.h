// Finds the checkpoint from which the next attempt starts.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_STARTING_POINT_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_STARTING_POINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns true if the newest attempt published a checkpoint that is newer than its starting
// point.
bool PublishedNewerCheckpoint(const JobEntry& entry);

// The checkpoint and the step from which an attempt starts.
struct StartingPoint {
  // The checkpoint directory. Empty for a fresh start.
  std::string path;
  int64_t step = 0;
  // The attempt that saved the checkpoint. 0 for a fresh start, and for another job's checkpoint.
  int64_t attempt = 0;
};

// Returns the step in the name of a checkpoint directory of trainyard-trainer, such as
// /c/7-base/step_000000020. Returns 0 for other names.
int64_t StepInName(const std::string& path);

// Returns the starting point of the next attempt. This is the newest published checkpoint that is
// neither damaged nor rolled back. If there is no such checkpoint, it is checkpoint.resume_from of
// the spec. The step of resume_from is known only for trainyard-trainer, which names its
// checkpoints after their steps. For other programs the step is 0.
StartingPoint NextStartingPoint(const v1::Job& job);

// Returns the checkpoints that an attempt of a job with checkpoint.watch may start from or remove:
// the newest ones, at most 200. Empty for other jobs.
std::vector<v1::Checkpoint> WatchedCheckpointsOf(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_STARTING_POINT_H_
