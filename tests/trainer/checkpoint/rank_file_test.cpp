#include "trainer/checkpoint/rank_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/temporary_directory.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;

std::string_view BytesIn(const torch::Tensor& tensor) {
  return {static_cast<const char*>(tensor.data_ptr()), tensor.nbytes()};
}

std::string FileIn(const TemporaryDirectory& directory) {
  return trainyard::ReadFile(directory.File("rank_00003.safetensors"));
}

// A file with three chunks. The first chunk has two full blocks and a partial block. The second
// chunk is half of a tensor. The third chunk has narrower elements than the first two.
class RankFileTest : public testing::Test {
 protected:
  const torch::Tensor w_ = torch::randn({10, 1 << 20});
  const torch::Tensor half_ = torch::randn({2, 5});
  const torch::Tensor narrow_ = torch::ones({7}, torch::kBFloat16);
  const std::vector<PlannedChunk> plan_ = {
      {"w", torch::kFloat32, {10, 1 << 20}, {{0, 0}, {10, 1 << 20}}},
      {"half", torch::kFloat32, {4, 5}, {{2, 0}, {2, 5}}},
      {"narrow", torch::kBFloat16, {7}, {{0}, {7}}}};
};

// Writing pieces of any number of blocks must give the same file as writing whole tensors.
TEST_F(RankFileTest, PiecesMakeTheSameFileAsTensors) {
  const TemporaryDirectory whole, pieces;
  const Entries expected = WriteRankFile(
      whole.path(), 3,
      {WholeTensor("narrow", narrow_), WholeTensor("w", w_), {"half", {4, 5}, {2, 0}, half_}});
  RankFileWriter writer(pieces.path(), RankDataName(3), plan_);
  writer.Append(BytesIn(w_).substr(0, 2 * kBlockBytes));
  writer.Append(BytesIn(w_).substr(2 * kBlockBytes));
  writer.Append(BytesIn(half_));
  writer.Append(BytesIn(narrow_));
  const Entries entries = writer.Finish();
  EXPECT_TRUE(FileIn(pieces) == FileIn(whole));
  EXPECT_EQ(EntriesToText(entries), EntriesToText(expected));
  EXPECT_EQ(entries.tensors.at("w").chunks.at(0).xxh64.size(), 10u);
  EXPECT_THAT(entries.tensors.at("half").chunks.at(0).box.offset, ElementsAre(2, 0));
}

TEST_F(RankFileTest, WhatCannotBeWrittenIsAnError) {
  const auto write = [&] { RankFileWriter("/no/such/directory", RankDataName(3), plan_); };
  EXPECT_THAT(ErrorOf(write, ExitCode::kCannotWrite), testing::HasSubstr("/no/such/directory"));
}

}  // namespace
}  // namespace trainyard::trainer
