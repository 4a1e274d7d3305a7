// Checkpoints of a job in the state, as its trainers tell of them. Used by Apply only.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_CHECKPOINT_LIST_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_CHECKPOINT_LIST_H_

#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Adds one that was published, in place of an older one of its path. The newest 1,000 are kept.
void AddCheckpoint(const v1::Checkpoint& published, v1::Job& job);
// Moves it to the deleted ones, of which the newest 100 are kept.
void RemoveCheckpoint(const v1::CheckpointDeleted& deleted, v1::Job& job);
// No attempt starts from it any more.
void MarkDamaged(const v1::CheckpointRejected& rejected, v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_CHECKPOINT_LIST_H_
