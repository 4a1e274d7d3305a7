// The checkpoint from which an attempt of a job really starts.
//
// The controller names the newest checkpoint that was reported to it. Newer reports may be missing:
// the controller was down, or the disk with the telemetry is full or gone. Retention follows the
// published checkpoints, so the named one may be removed while newer ones of the same job exist.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STARTING_POINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STARTING_POINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/rolled_back.h"

namespace trainyard::trainer {

struct StartingPoint {
  std::string path;
  // When `path` is not the named checkpoint: all checkpoints of the job in the directory, newest
  // last.
  std::vector<PublishedCheckpoint> instead;
};

// The checkpoint `named`. If it is missing (not: damaged) in `directory`, the job's checkpoint
// directory, and the job has other checkpoints there: the newest one that is whole, by its manifest
// and the sizes of its files, and that no rollback has made bad. Outside of a job (job_id 0) always
// `named`. Call it with the fence raised, so that no older attempt can publish afterwards.
StartingPoint FindStartingPoint(const std::string& named, const std::string& directory,
                                int64_t job_id, const std::vector<RolledBack>& rolled_back = {});

// Throws TrainerError kBadConfig when `directory` holds checkpoints of another job behind `step`,
// from which job `job_id` goes on: it would publish over them. Outside of a job (job_id 0) it may.
void CheckOverwritesNone(const std::string& directory, int64_t job_id, int64_t step);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STARTING_POINT_H_
