// Checkpoint that the next attempt starts from.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_STARTING_POINT_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_STARTING_POINT_H_

#include <cstdint>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// True if the newest attempt published a checkpoint newer than the one that it started from.
bool PublishedNewerCheckpoint(const JobEntry& entry);

// Checkpoint and step that an attempt starts from.
struct StartingPoint {
  // Checkpoint directory; empty for a fresh start.
  std::string path;
  int64_t step = 0;
  // Attempt that saved the checkpoint; 0 for a fresh start or another job's checkpoint.
  int64_t attempt = 0;
};

// Starting point of the next attempt: the newest published checkpoint that is neither damaged nor
// rolled back, else checkpoint.resume_from of the spec.
StartingPoint NextStartingPoint(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_STARTING_POINT_H_
