// The checkpoints of a job in the state, as its trainers reported them. Used only by Apply.
#ifndef TRAINYARD_CONTROLLER_CORE_APPLY_CHECKPOINT_LIST_H_
#define TRAINYARD_CONTROLLER_CORE_APPLY_CHECKPOINT_LIST_H_

#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Adds a published checkpoint. An older checkpoint with the same path is removed. The newest 1,000
// checkpoints are kept.
void AddCheckpoint(const v1::Checkpoint& published, v1::Job& job);
// Moves the checkpoint to the list of deleted checkpoints, of which the newest 100 are kept.
void RemoveCheckpoint(const v1::CheckpointDeleted& deleted, v1::Job& job);
// Marks the checkpoint as damaged, so that later attempts do not start from it.
void MarkDamaged(const v1::CheckpointRejected& rejected, v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_APPLY_CHECKPOINT_LIST_H_
