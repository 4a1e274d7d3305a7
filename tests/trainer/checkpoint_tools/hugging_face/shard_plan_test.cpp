#include "trainer/checkpoint_tools/hugging_face/shard_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;

PlannedChunk Chunk(const std::string& name, int64_t elements,
                   torch::ScalarType dtype = torch::kFloat32) {
  return {name, dtype, {elements}, {{0}, {elements}}};
}

// Returns "file: tensor tensor" for each file.
std::vector<std::string> TextOf(const std::vector<PlannedFile>& shards) {
  std::vector<std::string> lines;
  for (const PlannedFile& shard : shards) {
    lines.push_back(shard.name + ":");
    for (const PlannedChunk& chunk : shard.chunks) lines.back() += " " + chunk.name;
  }
  return lines;
}

TEST(ShardPlanTest, OneFileHasNoNumber) {
  EXPECT_THAT(TextOf(PlanShards({Chunk("b", 2), Chunk("a", 2)}, 16)),
              ElementsAre("model.safetensors: b a"));
}

TEST(ShardPlanTest, AFileEndsBeforeItGetsTooLarge) {
  const std::vector<PlannedChunk> tensors = {Chunk("a", 2), Chunk("b", 2), Chunk("large", 9),
                                             Chunk("c", 1), Chunk("d", 3)};
  EXPECT_THAT(TextOf(PlanShards(tensors, 16)),
              ElementsAre("model-00001-of-00003.safetensors: a b",
                          "model-00002-of-00003.safetensors: large",
                          "model-00003-of-00003.safetensors: c d"));
  EXPECT_EQ(PlanShards(tensors, 15).size(), 5u);
}

TEST(ShardPlanTest, WiderElementsComeFirstInAFile) {
  EXPECT_THAT(TextOf(PlanShards({Chunk("a", 1, torch::kBFloat16), Chunk("b", 1)}, 16)),
              ElementsAre("model.safetensors: b a"));
}

TEST(ShardPlanTest, TheIndexNamesTheFileOfEachTensor) {
  const std::string text = ShardIndexText(PlanShards({Chunk("a", 2), Chunk("b", 2)}, 8));
  EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(R"({
      "metadata": {"total_size": 16},
      "weight_map": {"a": "model-00001-of-00002.safetensors",
                     "b": "model-00002-of-00002.safetensors"}})"));
}

}  // namespace
}  // namespace trainyard::trainer
