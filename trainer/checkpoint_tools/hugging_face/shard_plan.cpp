#include "trainer/checkpoint_tools/hugging_face/shard_plan.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "trainer/checkpoint_tools/hugging_face/safetensors_directory.h"

namespace trainyard::trainer {
namespace {

std::string ShardName(size_t shard, size_t shards) {
  if (shards == 1) return kSafetensorsName;
  char name[80];
  std::snprintf(name, sizeof(name), "model-%05zu-of-%05zu.safetensors", shard + 1, shards);
  return name;
}

}  // namespace

std::vector<PlannedFile> PlanShards(const std::vector<PlannedChunk>& tensors, int64_t shard_bytes) {
  std::vector<PlannedFile> shards(1);
  int64_t bytes = 0;  // Size of the last shard so far.
  for (const PlannedChunk& tensor : tensors) {
    if (bytes > 0 && bytes + BytesOf(tensor) > shard_bytes) {
      shards.emplace_back();
      bytes = 0;
    }
    bytes += BytesOf(tensor);
    shards.back().chunks.push_back(tensor);
  }
  for (size_t i = 0; i < shards.size(); ++i) {
    shards[i].name = ShardName(i, shards.size());
    std::stable_sort(shards[i].chunks.begin(), shards[i].chunks.end(),
                     [](const PlannedChunk& a, const PlannedChunk& b) {
                       return c10::elementSize(a.dtype) > c10::elementSize(b.dtype);
                     });
  }
  return shards;
}

std::string ShardIndexText(const std::vector<PlannedFile>& shards) {
  nlohmann::json index;
  int64_t bytes = 0;
  for (const PlannedFile& shard : shards) {
    for (const PlannedChunk& tensor : shard.chunks) {
      bytes += BytesOf(tensor);
      index["weight_map"][tensor.name] = shard.name;
    }
  }
  index["metadata"]["total_size"] = bytes;
  return index.dump(2) + "\n";
}

}  // namespace trainyard::trainer
