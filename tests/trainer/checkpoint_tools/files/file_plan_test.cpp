#include "trainer/checkpoint_tools/files/file_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using Plan = std::vector<std::vector<PlannedChunk>>;

StoredTensor Tensor(Extents shape, torch::ScalarType dtype = torch::kFloat32) {
  return {dtype, std::move(shape), {}};
}

std::vector<int64_t> SizesOf(const Plan& plan) {
  std::vector<int64_t> sizes;
  for (const auto& file : plan) {
    sizes.push_back(0);
    for (const PlannedChunk& chunk : file) sizes.back() += BytesOf(chunk);
  }
  return sizes;
}

// Returns each chunk of a file as text: name, offset and shape, such as "w [2, 0] [1, 4]".
std::vector<std::string> TextsOf(const std::vector<PlannedChunk>& file) {
  std::vector<std::string> texts;
  for (const PlannedChunk& chunk : file) {
    texts.push_back(chunk.name + " " + ToText(chunk.box.offset) + " " + ToText(chunk.box.shape));
  }
  return texts;
}

void ExpectCovers(const Plan& plan, const StoredTensors& tensors) {
  std::map<std::string, std::vector<Box>> boxes;
  for (const auto& file : plan) {
    EXPECT_FALSE(file.empty());
    for (const PlannedChunk& chunk : file) boxes[chunk.name].push_back(chunk.box);
  }
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(CoverageFault(boxes[name], tensor.shape), "") << name;
  }
}

TEST(FilePlanTest, OneFileHasEveryTensorWhole) {
  const Plan plan = PlanFiles({{"a", Tensor({2, 3})}, {"b", Tensor({})}, {"c", Tensor({5})}}, 1);
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_THAT(TextsOf(plan[0]), ElementsAre("a [0, 0] [2, 3]", "b [] []", "c [0] [5]"));
}

TEST(FilePlanTest, CutsAtTheEndsOfRows) {
  const StoredTensors tensors = {{"a", Tensor({6, 10})}, {"b", Tensor({10})}};
  const Plan plan = PlanFiles(tensors, 2);  // An even split, 140 bytes each, would divide a row.
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_THAT(TextsOf(plan[0]), ElementsAre("a [0, 0] [4, 10]"));
  EXPECT_THAT(TextsOf(plan[1]), ElementsAre("a [4, 0] [2, 10]", "b [0] [10]"));
}

// Wide elements come before narrow ones, so that each chunk is aligned to its element size.
TEST(FilePlanTest, WidestElementsComeFirst) {
  const Plan plan = PlanFiles({{"a", Tensor({3}, torch::kUInt8)},
                               {"b", Tensor({3}, torch::kBFloat16)},
                               {"c", Tensor({3}, torch::kFloat64)},
                               {"d", Tensor({3}, torch::kBFloat16)}},
                              1);
  EXPECT_THAT(TextsOf(plan.at(0)), ElementsAre("c [0] [3]", "b [0] [3]", "d [0] [3]", "a [0] [3]"));
}

TEST(FilePlanTest, CutsLargeSlabsInsideOfThem) {
  const StoredTensors tensors = {{"experts", Tensor({2, 4, 8})}};
  const Plan plan = PlanFiles(tensors, 4);
  EXPECT_THAT(SizesOf(plan), ElementsAre(64, 64, 64, 64));
  ExpectCovers(plan, tensors);
}

TEST(FilePlanTest, FewerFilesWhereThereAreNotSoManyRows) {
  const StoredTensors tensors = {{"a", Tensor({3, 1000})}, {"b", Tensor({2})}};
  const Plan plan = PlanFiles(tensors, 50);
  ExpectCovers(plan, tensors);
  EXPECT_LE(plan.size(), 5u);
  EXPECT_EQ(PlanFiles({}, 3).size(), 1u) << "no tensors, and a file without any";
  EXPECT_EQ(PlanFiles({{"a", Tensor({0, 4})}}, 3).size(), 1u);
}

// 640 GB of tensors in 70,000 files. The sizes do not fit into 32 bits.
TEST(FilePlanTest, LargeCheckpointsAreSpreadEvenly) {
  StoredTensors tensors;
  for (int layer = 0; layer < 80; ++layer) {
    tensors["w" + std::to_string(layer)] = Tensor({65536, 16384});
    tensors["v" + std::to_string(layer)] = Tensor({65536, 28672}, torch::kBFloat16);
    tensors["n" + std::to_string(layer)] = Tensor({16384});
  }
  const int64_t bytes = BytesOf(tensors);
  for (const int64_t files : {int64_t{7}, FilesFor(bytes), int64_t{70000}}) {
    const Plan plan = PlanFiles(tensors, files);
    EXPECT_EQ(static_cast<int64_t>(plan.size()), files);
    for (const int64_t size : SizesOf(plan)) {
      ASSERT_NEAR(size, bytes / files, 65536) << "a row, at most";
    }
    if (files < 1000) ExpectCovers(plan, tensors);
  }
}

TEST(FilePlanTest, RandomTensorsAreCoveredOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    StoredTensors tensors;
    for (int i = 0; i < 6; ++i) {
      Extents shape;
      for (size_t d = 0; d < random() % 4; ++d) shape.push_back(1 + random() % 7);
      tensors[std::to_string(i)] = Tensor(shape, i % 2 == 0 ? torch::kFloat32 : torch::kBFloat16);
    }
    ExpectCovers(PlanFiles(tensors, 1 + static_cast<int64_t>(random() % 9)), tensors);
  }
}

TEST(FilePlanTest, FilesAreOfFourGigabytes) {
  EXPECT_EQ(FilesFor(0), 1);
  EXPECT_EQ(FilesFor(int64_t{4} << 30), 1);
  EXPECT_EQ(FilesFor((int64_t{4} << 30) + 1), 2);
  EXPECT_EQ(FilesFor(int64_t{400} << 30), 100);
}

}  // namespace
}  // namespace trainyard::trainer
