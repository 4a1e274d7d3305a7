// Choice of the checkpoints to remove when a new one is published; removal of half-written ones.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/attempt_key.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/checkpoint_writer.h"

namespace trainyard::trainer {

// Paths of the `count` checkpoints with the lowest loss on `set`, best first. A checkpoint without
// that loss is not judged. Of several with the same evaluation only the first one, which is the
// nearest to it, counts. Of equal losses the first one is better. Pure.
std::vector<std::string> BestCheckpoints(const std::vector<PublishedCheckpoint>& checkpoints,
                                         const std::string& set, int count);

// `all` as ListCheckpoints orders them. Never returns one of the newest keep_last, a
// multiple of keep_every_steps, one of the best keep_best, or one whose path is in `in_use`. Those
// that a rollback has made bad do not count and come first. Pure.
std::vector<PublishedCheckpoint> CheckpointsToDelete(const std::vector<PublishedCheckpoint>& all,
                                                     const RetentionPolicy& policy,
                                                     const std::vector<std::string>& in_use);

// "step_000000100.tmp-j7-e3-1": the directory in which attempt 3 of job 7 builds its save number 1,
// of step 100; without "j7-" outside of a job.
std::string TemporaryName(int64_t step, const AttemptKey& attempt, int64_t save);

// Renames the directories that attempts before `attempt` are building, so that none of them can
// publish any more. RemoveAbandoned removes them. Throws TrainerError kCannotWrite.
void TakeFromOlder(const std::string& directory, const AttemptKey& attempt);

// Removes directories with temporary names of older attempts and of `attempt` itself: outside of a
// job every run is attempt 1, and files of an earlier run must not pass for a part of this run's
// saves. A directory that cannot be removed stays.
void RemoveAbandoned(const std::string& directory, const AttemptKey& attempt);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_
