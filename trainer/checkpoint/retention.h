// Which checkpoints go when a new one is published, and the removal of half-written ones.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/checkpoint_writer.h"

namespace trainyard::trainer {

// `checkpoints` as ListCheckpoints orders them. Never returns one of the newest keep_last, a
// multiple of keep_every_steps, or one whose path is in `in_use`. Pure.
std::vector<PublishedCheckpoint> CheckpointsToDelete(
    const std::vector<PublishedCheckpoint>& checkpoints, const RetentionPolicy& policy,
    const std::vector<std::string>& in_use);

// "step_000000100.tmp-e3-1": where attempt `epoch` builds its save number `save` of `step`.
std::string TemporaryName(int64_t step, int64_t epoch, int64_t save);

// Removes directories that attempts older than `epoch` have left under temporary names. What cannot
// be removed stays.
void RemoveAbandoned(const std::string& directory, int64_t epoch);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_
