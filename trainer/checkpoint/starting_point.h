// Which checkpoint an attempt of a job really starts from.
//
// The controller names the newest one that it has heard of, and it may not have heard for a while:
// it was away, or the disk that the news was written to is full or gone. Retention goes by what is
// published, so the one that is named may be gone while newer ones of the same job are there.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STARTING_POINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STARTING_POINT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"

namespace trainyard::trainer {

struct StartingPoint {
  std::string path;
  // When `path` is not the one that was named: all that the job has in the directory, newest last.
  std::vector<PublishedCheckpoint> instead;
};

// The checkpoint `named`, unless it is gone (not: damaged) from `directory`, the job's checkpoint
// directory, and the job has others there: then the newest of them that is whole, by its manifest
// and the size of its files. Outside of a job (job_id 0) always `named`. Call it with the fence
// raised: nothing newer can come after.
StartingPoint FindStartingPoint(const std::string& named, const std::string& directory,
                                int64_t job_id);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STARTING_POINT_H_
