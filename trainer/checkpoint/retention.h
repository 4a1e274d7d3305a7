// Selects the checkpoints to remove when a new one is published, and removes unfinished ones.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_
#define TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/rolled_back.h"
#include "trainer/checkpoint/writer_key.h"

namespace trainyard::trainer {

// Rules for removing old checkpoints of this job. Checkpoints of other jobs in the directory
// remain.
struct RetentionPolicy {
  int keep_last = 3;                    // Newest checkpoints to keep; at least 1.
  int64_t keep_every_steps = 0;         // Keep every multiple of this as well; 0: none.
  int keep_best = 0;                    // Keep this many with the lowest loss on best_set.
  std::string best_set;                 // Evaluation set for comparing checkpoints; empty: none.
  std::vector<RolledBack> rolled_back;  // Always removed, regardless of the other rules.
};

// Paths of the `count` checkpoints with the lowest loss on `set`, best first. Ignores checkpoints
// without that loss. Among checkpoints with the same evaluation only the first counts, because it
// is nearest to the evaluation. Ties go to the first checkpoint. Pure.
std::vector<std::string> BestCheckpoints(const std::vector<PublishedCheckpoint>& checkpoints,
                                         const std::string& set, int count);

// Selects from `all`, sorted as by ListCheckpoints. Rolled-back checkpoints are always returned,
// first, and do not count for the other rules. Otherwise never returns one of the newest keep_last,
// a multiple of keep_every_steps, one of the best keep_best, or one whose path is in `in_use`.
// Pure.
std::vector<PublishedCheckpoint> CheckpointsToDelete(const std::vector<PublishedCheckpoint>& all,
                                                     const RetentionPolicy& policy,
                                                     const std::vector<std::string>& in_use);

// "step_000000100.tmp-j7-e3-1": the directory in which attempt 3 of job 7 builds its save number 1,
// of step 100. Outside of a job there is no "j7-"; a generation above 1 adds "g2-".
std::string TemporaryName(int64_t step, const WriterKey& writer, int64_t save);

// Renames the unfinished directories of writers before `writer`, so that these can no longer
// publish. RemoveAbandoned removes them. Throws TrainerError kCannotWrite.
void TakeFromOlder(const std::string& directory, const WriterKey& writer);

// Removes temporary directories of older writers and of `writer` itself. Outside of a job every
// run is attempt 1, and files of an earlier run must not be mistaken for part of this run's saves.
// A directory that cannot be removed remains.
void RemoveAbandoned(const std::string& directory, const WriterKey& writer);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_RETENTION_H_
