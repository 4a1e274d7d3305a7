// Distributes the weights of an export among files in the same way as transformers. Pure functions.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SHARD_PLAN_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SHARD_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint_tools/files/window_copy.h"

namespace trainyard::trainer {

// Assigns whole tensors to files, in the given order. A new file starts before each tensor that
// would make the file larger than `shard_bytes`. A tensor larger than that gets its own file. A
// single file is named model.safetensors; several files are named model-00001-of-00003.safetensors
// and so on. Within a file, tensors with wider elements come first.
std::vector<PlannedFile> PlanShards(const std::vector<PlannedChunk>& tensors, int64_t shard_bytes);

// Returns the text of model.safetensors.index.json: the total size of all tensors, and the file of
// each tensor.
std::string ShardIndexText(const std::vector<PlannedFile>& shards);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SHARD_PLAN_H_
