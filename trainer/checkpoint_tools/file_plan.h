// Spreads the tensors of a checkpoint over files.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILE_PLAN_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILE_PLAN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint/rank_file.h"

namespace trainyard::trainer {

using StoredTensors = std::map<std::string, StoredTensor>;

// Bytes of all elements.
int64_t BytesOf(const StoredTensors& tensors);

// Number of files of about 4 GiB for so many bytes; at least 1.
int64_t FilesFor(int64_t bytes);

// The chunks of each file, in the order of its bytes. Tensors of wider elements come first, then
// those with smaller names; one after the other they are cut into files of the same number of
// bytes, but for the rest of a row (the last dimension), so that few chunks are needed. Fewer files
// than `files` when there are not so many rows. Pure.
std::vector<std::vector<PlannedChunk>> PlanFiles(const StoredTensors& tensors, int64_t files);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILE_PLAN_H_
