// Distributes the tensors of a checkpoint over files.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_FILE_PLAN_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_FILE_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/rank_file.h"

namespace trainyard::trainer {

using StoredTensors = std::map<std::string, StoredTensor>;

// Total bytes of all elements.
int64_t BytesOf(const StoredTensors& tensors);

// Number of files of about 4 GiB for `bytes` bytes; at least 1.
int64_t FilesFor(int64_t bytes);

// The chunks of each file, in byte order. Tensors are ordered by decreasing element width, then by
// name. Their concatenation is split into files of equal size, except that rows (along the last
// dimension) are not split, so that there are few chunks. Returns fewer than `files` files if there
// are not enough rows. Pure.
std::vector<std::vector<PlannedChunk>> PlanFiles(const StoredTensors& tensors, int64_t files);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_FILE_PLAN_H_
