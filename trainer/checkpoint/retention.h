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
  int64_t keep_every_steps = 0;         // Keeps checkpoints at multiples of this number; 0: none.
  int keep_best = 0;                    // Number of checkpoints with the lowest loss to keep.
  std::string best_set;                 // Evaluation set of the loss for keep_best; empty: none.
  std::vector<RolledBack> rolled_back;  // Always removed, regardless of the other rules.
};

// Returns the paths of the `count` checkpoints with the lowest loss on `set`, best first. Ignores
// checkpoints without that loss. If several checkpoints store the same evaluation, only the first
// counts, because that checkpoint is nearest to the evaluation. If losses are equal, the earlier
// checkpoint comes first. Pure.
std::vector<std::string> BestCheckpoints(const std::vector<PublishedCheckpoint>& checkpoints,
                                         const std::string& set, int count);

// Returns the checkpoints of `all` to delete. `all` must be sorted as by ListCheckpoints. Returns
// all rolled-back checkpoints first. Among the remaining checkpoints, keeps the newest keep_last,
// those at a multiple of keep_every_steps, the best keep_best, and those at a path in `in_use`.
// Pure.
std::vector<PublishedCheckpoint> CheckpointsToDelete(const std::vector<PublishedCheckpoint>& all,
                                                     const RetentionPolicy& policy,
                                                     const std::vector<std::string>& in_use);

// Returns the name of the directory in which a save is built. Example: "step_000000100.tmp-j7-e3-1"
// for save number 1, of step 100, in attempt 3 of job 7. Outside of a job, "j7-" is omitted. If the
// generation is above 1, "g2-" is added.
std::string TemporaryName(int64_t step, const WriterKey& writer, int64_t save);

// Renames the unfinished directories of writers older than `writer`, so that these writers can no
// longer publish. RemoveAbandoned removes the renamed directories later. Throws TrainerError
// kCannotWrite.
void TakeFromOlder(const std::string& directory, const WriterKey& writer);

// Removes temporary directories of older writers and of `writer` itself. Every run outside of a job
// is attempt 1, so an earlier run may have left directories of `writer`. Their files must not be
// mistaken for parts of this run's saves. A directory that cannot be removed is kept.
void RemoveAbandoned(const std::string& directory, const WriterKey& writer);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_
