// Distributes the weights of an export over files, like transformers. Pure functions.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SHARD_PLAN_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SHARD_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint_tools/files/window_copy.h"

namespace trainyard::trainer {

// Assigns whole tensors in the given order. A new file starts before a tensor that would exceed
// `shard_bytes`; a larger tensor gets its own file. A single file is named model.safetensors,
// several model-00001-of-00003.safetensors and so on. Within a file, wider elements come first.
std::vector<PlannedFile> PlanShards(const std::vector<PlannedChunk>& tensors, int64_t shard_bytes);

// Text of model.safetensors.index.json: total bytes of all tensors, and the file of each.
std::string ShardIndexText(const std::vector<PlannedFile>& shards);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_SHARD_PLAN_H_
