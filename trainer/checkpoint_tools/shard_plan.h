// Spreads the weights of an export over files, as transformers does. Pure.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_SHARD_PLAN_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_SHARD_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint_tools/window_copy.h"

namespace trainyard::trainer {

// Whole tensors, in the given order: a file ends before the tensor that would make its tensors
// larger than `shard_bytes`. A tensor that is larger alone has a file of its own. One file is
// model.safetensors, several are model-00001-of-00003.safetensors and so on. Inside a file wider
// elements come first.
std::vector<PlannedFile> PlanShards(const std::vector<PlannedChunk>& tensors, int64_t shard_bytes);

// Text of model.safetensors.index.json: the bytes of all tensors, and the file of each.
std::string ShardIndexText(const std::vector<PlannedFile>& shards);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_SHARD_PLAN_H_
