// Determines the checkpoint from which an attempt of a job starts.
//
// The controller names the newest checkpoint of which it received a report. The controller may not
// have received newer reports, because it was down or because the disk with the telemetry is full
// or lost. Retention does not depend on reports, so it may have removed the named checkpoint while
// newer checkpoints of the same job exist.
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
  // The usable checkpoints of the job in the directory, newest last. Set only if `path` is not the
  // checkpoint that the controller named.
  std::vector<PublishedCheckpoint> instead;
};

// Returns the checkpoint `named`. If that checkpoint is missing from `directory` (the job's
// checkpoint directory), returns the newest usable checkpoint of the job there, if there is one. A
// checkpoint is usable if it has a manifest, all files have their full sizes, and it was not rolled
// back. A damaged checkpoint does not count as missing. Outside of a job (job_id 0), always returns
// `named`. Call this with the fence raised, so that no older attempt can publish afterwards.
StartingPoint FindStartingPoint(const std::string& named, const std::string& directory,
                                int64_t job_id, const std::vector<RolledBack>& rolled_back = {});

// Throws TrainerError kBadConfig if `directory` contains checkpoints of another job at steps after
// `step`. Job `job_id`, which continues from `step`, would overwrite them. Does nothing outside of
// a job (job_id 0).
void CheckOverwritesNone(const std::string& directory, int64_t job_id, int64_t step);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STARTING_POINT_H_
