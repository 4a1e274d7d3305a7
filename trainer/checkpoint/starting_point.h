// Determines the checkpoint from which an attempt of a job starts.
//
// The controller names the newest checkpoint reported to it. Newer reports may be missing, because
// the controller was down or the disk with the telemetry is full or gone. Retention follows the
// published checkpoints, so the named one may have been removed while newer ones of the same job
// exist.
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
  // If `path` is not the named checkpoint: the job's usable checkpoints in the directory, newest
  // last.
  std::vector<PublishedCheckpoint> instead;
};

// Returns the checkpoint `named`, unless it is missing (not: damaged) in `directory`, the job's
// checkpoint directory, and the job has usable checkpoints there. Then returns the newest of these.
// Usable: complete by its manifest and file sizes, and not rolled back. Outside of a job (job_id 0)
// always returns `named`. Call it with the fence raised, so that no older attempt can publish
// afterwards.
StartingPoint FindStartingPoint(const std::string& named, const std::string& directory,
                                int64_t job_id, const std::vector<RolledBack>& rolled_back = {});

// Throws TrainerError kBadConfig if `directory` has checkpoints of another job at steps after
// `step`: job `job_id`, which continues from `step`, would overwrite them. Does nothing outside of
// a job (job_id 0).
void CheckOverwritesNone(const std::string& directory, int64_t job_id, int64_t step);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STARTING_POINT_H_
