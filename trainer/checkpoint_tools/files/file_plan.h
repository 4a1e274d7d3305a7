// Distributes the tensors of a checkpoint among files.
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

// Returns the total size of all elements in bytes.
int64_t BytesOf(const StoredTensors& tensors);

// Returns the number of files of about 4 GiB that `bytes` bytes need; at least 1.
int64_t FilesFor(int64_t bytes);

// Returns the chunks of each file, in byte order. Tensors are sorted by decreasing element width,
// then by name, and concatenated. The result is split into files of equal size, but never within a
// row (a run along the last dimension), so that there are few chunks. Returns fewer than `files`
// files if there are fewer rows than files. Pure.
std::vector<std::vector<PlannedChunk>> PlanFiles(const StoredTensors& tensors, int64_t files);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_FILE_PLAN_H_
