// Selects the checkpoints to remove when a new one is published, and removes unfinished
// checkpoints.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/rolled_back.h"
#include "trainer/checkpoint/writer_key.h"

namespace trainyard::trainer {

// Rules for removing old checkpoints of this job. Checkpoints of other jobs in the directory are
// not removed.
struct RetentionPolicy {
  int keep_last = 3;                    // Number of newest checkpoints to keep; at least 1.
  int64_t keep_every_steps = 0;         // Keeps every step that is a multiple of this too; 0: none.
  int keep_best = 0;                    // Keeps this many with the lowest loss on best_set as well.
  std::string best_set;                 // Evaluation set that compares checkpoints; empty: none.
  std::vector<RolledBack> rolled_back;  // Always removed, whatever the other rules say.
};

// Returns the paths of the `count` checkpoints with the lowest loss on `set`, best first.
// Checkpoints without that loss are ignored. If several checkpoints have the same evaluation, only
// the first counts, because it is nearest to the evaluation. If losses are equal, the earlier
// checkpoint comes first. Pure.
std::vector<std::string> BestCheckpoints(const std::vector<PublishedCheckpoint>& checkpoints,
                                         const std::string& set, int count);

// Returns the checkpoints of `all` to delete. `all` must be sorted as by ListCheckpoints.
// Rolled-back checkpoints come first: they are always returned, and the other rules ignore them.
// The function never returns other checkpoints that are among the newest keep_last, at a multiple
// of keep_every_steps, among the best keep_best, or at a path in `in_use`. Pure.
std::vector<PublishedCheckpoint> CheckpointsToDelete(const std::vector<PublishedCheckpoint>& all,
                                                     const RetentionPolicy& policy,
                                                     const std::vector<std::string>& in_use);

// Returns the name of the directory in which a save is built. Example: "step_000000100.tmp-j7-e3-1"
// for save number 1, of step 100, in attempt 3 of job 7. Outside of a job, "j7-" is omitted. If the
// generation is above 1, "g2-" is added.
std::string TemporaryName(int64_t step, const WriterKey& writer, int64_t save);

// Renames the unfinished directories of writers older than `writer`, so that they can no longer
// publish. RemoveAbandoned removes these directories later. Throws TrainerError kCannotWrite.
void TakeFromOlder(const std::string& directory, const WriterKey& writer);

// Removes temporary directories of older writers and of `writer` itself. The latter is needed
// because every run outside of a job is attempt 1, and files of an earlier run must not be mistaken
// for a part of this run's saves. A directory that cannot be removed is kept.
void RemoveAbandoned(const std::string& directory, const WriterKey& writer);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_
