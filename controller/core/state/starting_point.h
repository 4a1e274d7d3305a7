// Checkpoint from which the next attempt starts.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_STARTING_POINT_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_STARTING_POINT_H_

#include <cstdint>
#include <string>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// True when the newest attempt published a checkpoint beyond the one that it started from.
bool PublishedNewerCheckpoint(const JobEntry& entry);

// Checkpoint and step at which an attempt begins.
struct StartingPoint {
  // Directory of a checkpoint; empty for a fresh start.
  std::string path;
  int64_t step = 0;
  // Attempt that saved it; 0 for a fresh start or a checkpoint of another job.
  int64_t attempt = 0;
};

// Starting point of the next attempt: the newest published checkpoint that is not known as damaged
// and that no rollback has made bad, else checkpoint.resume_from of the spec.
StartingPoint NextStartingPoint(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_STARTING_POINT_H_
