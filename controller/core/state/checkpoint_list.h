// Checkpoints of a job in the state, as reported by its trainers. Used only by Apply.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_CHECKPOINT_LIST_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_CHECKPOINT_LIST_H_

#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Adds a published checkpoint and removes an older one with the same path. The newest 1,000 are
// kept.
void AddCheckpoint(const v1::Checkpoint& published, v1::Job& job);
// Moves the checkpoint to the deleted ones, of which the newest 100 are kept.
void RemoveCheckpoint(const v1::CheckpointDeleted& deleted, v1::Job& job);
// Marks the checkpoint as damaged: later attempts do not start from it.
void MarkDamaged(const v1::CheckpointRejected& rejected, v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_CHECKPOINT_LIST_H_
