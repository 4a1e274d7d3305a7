#include "trainer/checkpoint_tools/files/tensor_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/cut_tensors.h"
#include "tests/trainer/checkpoint_tools/bytes_read.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/checkpoint/durable_file.h"

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;

// Returns a tensor of the checkpoint, read in pieces of this number of elements.
torch::Tensor Streamed(const std::string& checkpoint, const std::string& name,
                       int64_t piece_elements, int64_t kept_bytes = TensorStream::kKeptBytes) {
  const CheckpointReader reader(checkpoint);
  const StoredTensor& stored = reader.manifest().entries.tensors.at(name);
  TensorStream stream(reader.directory(), name, stored, kept_bytes);
  torch::Tensor result = torch::empty(stored.shape, torch::TensorOptions().dtype(stored.dtype));
  for (int64_t first = 0; first < result.numel(); first += piece_elements) {
    stream.Read(std::min(piece_elements, result.numel() - first),
                static_cast<char*>(result.data_ptr()) + first * result.element_size());
  }
  return result;
}

TEST(TensorStreamTest, GivesEveryElementWhateverTheBoxesAndThePieces) {
  std::mt19937 random(20261123);
  for (int round = 0; round < 30; ++round) {
    const CheckpointDirectory directory;
    std::vector<int64_t> shape;
    for (size_t d = 0; d < 1 + random() % 4; ++d) shape.push_back(1 + random() % 9);
    const torch::Tensor w =
        torch::randn(shape).to(round % 2 == 0 ? torch::kFloat32 : torch::kBFloat16);
    SaveFromRanks(directory, 1, 2, Cut("w", w, 6, &random));
    for (const int64_t piece : {int64_t{1}, int64_t{7}, w.numel()}) {
      ASSERT_TRUE(SameBytes(Streamed(directory.Step(1), "w", piece), w)) << w.sizes();
    }
  }
}

TEST(TensorStreamTest, GivesAScalar) {
  const CheckpointDirectory directory;
  directory.SaveWhole(1, {WholeTensor("s", torch::tensor(7.5))});
  EXPECT_EQ(Streamed(directory.Step(1), "s", 1).item<float>(), 7.5);
}

// 24 rows of 4 MiB, split by columns and by rows into six chunks of one or two blocks each.
class LargeTensorStreamTest : public testing::Test {
 protected:
  LargeTensorStreamTest() {
    std::vector<TensorChunk> chunks;
    for (const int64_t row : {0, 12}) {
      for (int64_t third = 0; third < 3; ++third) {
        const int64_t first = third * kThird, count = third == 2 ? kColumns - 2 * kThird : kThird;
        chunks.push_back({"w",
                          {24, kColumns},
                          {row, first},
                          original_.narrow(0, row, 12).narrow(1, first, count)});
      }
    }
    SaveFromRanks(directory_, 1, 2, chunks);
  }

  static constexpr int64_t kColumns = 1 << 20;
  static constexpr int64_t kThird = 400000;
  const CheckpointDirectory directory_;
  const torch::Tensor original_ = torch::arange(24 * kColumns, torch::kInt32).view({24, kColumns});
};

TEST_F(LargeTensorStreamTest, ReadsEachBlockOnce) {
  const int64_t before = BytesRead();
  EXPECT_TRUE(SameBytes(Streamed(directory_.Step(1), "w", kColumns / 2 + 3), original_));
  const int64_t bytes = BytesRead() - before;
  EXPECT_GE(bytes, 96 << 20);
  EXPECT_LT(bytes, (96 << 20) + (64 << 10)) << "the manifest, too";
}

TEST_F(LargeTensorStreamTest, WithoutKeptBlocksItReadsMoreAndGivesTheSame) {
  const int64_t before = BytesRead();
  EXPECT_TRUE(SameBytes(Streamed(directory_.Step(1), "w", 2 * kColumns, 0), original_));
  EXPECT_GT(BytesRead() - before, 150 << 20);
}

TEST_F(LargeTensorStreamTest, ADamagedBlockEndsIt) {
  const std::string file = directory_.Step(1) + "/rank_00001.safetensors";
  FlipByte(file, static_cast<int64_t>(std::filesystem::file_size(file)) - 1);
  EXPECT_THAT(
      ErrorOf([&] { Streamed(directory_.Step(1), "w", kColumns); }, ExitCode::kBadCheckpoint),
      testing::AllOf(HasSubstr("the checksum of tensor w"), HasSubstr(file)));
}

// In versions 1 and 2, a chunk has one checksum, whatever its size.
TEST(TensorStreamTest, ChecksChunksOfEarlierVersions) {
  const CheckpointDirectory directory;
  const torch::Tensor w = torch::randn({5, 1 << 20});
  directory.SaveWhole(1, {WholeTensor("w", w)});
  const std::string path = directory.Step(1) + "/manifest.json";
  Manifest manifest = ManifestFromText(ReadFile(path, ExitCode::kInternal), path);
  StoredChunk& chunk = manifest.entries.tensors.at("w").chunks.at(0);
  chunk.block_bytes = chunk.end - chunk.begin;
  chunk.xxh64 = {XXH64(w.data_ptr(), w.nbytes(), 0)};
  WriteFileAtomically(path, ManifestToText(manifest));
  EXPECT_TRUE(SameBytes(Streamed(directory.Step(1), "w", 1 << 20), w));
  FlipByte(directory.Step(1) + "/rank_00000.safetensors", chunk.end - 1);
  EXPECT_THAT(ErrorOf([&] { Streamed(directory.Step(1), "w", 1 << 20); }, ExitCode::kBadCheckpoint),
              HasSubstr("the checksum of tensor w"));
}

}  // namespace
}  // namespace trainyard::trainer
