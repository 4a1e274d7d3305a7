#include "trainer/checkpoint/checkpoint_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>
#include <random>
#include <thread>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/cut_tensors.h"
#include "tests/trainer/checkpoint/read_tensor.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/config/trainer_error.h"
#include "trainer/ops/optimizer/master_weights.h"

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;

torch::Tensor Slice(torch::Tensor tensor, const std::vector<int64_t>& offset,
                    const std::vector<int64_t>& shape) {
  for (size_t d = 0; d < offset.size(); ++d) {
    tensor = tensor.narrow(static_cast<int64_t>(d), offset[d], shape[d]);
  }
  return tensor;
}

TEST(CheckpointReaderTest, RoundTripsEveryDtypeBitForBit) {
  const CheckpointDirectory directory;
  const torch::Tensor values = torch::randn({3, 5}, torch::kFloat64) * 100;
  std::vector<TensorChunk> chunks;
  for (const torch::ScalarType dtype :
       {torch::kFloat32, torch::kBFloat16, torch::kFloat16, torch::kFloat64, torch::kInt64,
        torch::kInt32, torch::kInt16, torch::kInt8, torch::kUInt8, torch::kBool}) {
    chunks.push_back(WholeTensor(c10::toString(dtype), values.to(dtype)));
  }
  chunks.push_back(WholeTensor("nan", torch::full({2}, NAN)));
  chunks.push_back(WholeTensor("scalar", torch::tensor(7.5)));
  chunks.push_back(WholeTensor("transposed", torch::randn({4, 3}).t()));
  directory.SaveWhole(10, chunks);

  const CheckpointReader reader(directory.Step(10));
  EXPECT_EQ(reader.tensors().size(), chunks.size());
  for (const TensorChunk& chunk : chunks) {
    EXPECT_TRUE(SameBytes(ReadWhole(reader, chunk.name), chunk.tensor)) << chunk.name;
    EXPECT_EQ(reader.tensors().at(chunk.name).dtype, chunk.tensor.scalar_type());
  }
}

TEST(CheckpointReaderTest, TellsWhatTheCheckpointIs) {
  const CheckpointDirectory directory;
  directory.SaveWhole(123456, {WholeTensor("w", torch::ones({2}))}, 4);
  const CheckpointReader reader(directory.Step(123456));
  EXPECT_EQ(reader.step(), 123456);
  EXPECT_EQ(reader.attempt(), 4);
  EXPECT_EQ(reader.model_fingerprint(), "tiny");
  EXPECT_EQ(reader.trainer_state()["samples"], 123456 * 8);
  EXPECT_TRUE(reader.Has("w"));
  EXPECT_FALSE(reader.Has("v"));
}

// Reshards a checkpoint from 1 to 3 to 2 ranks, with tensors split differently each time. Every box
// read from any of the checkpoints must equal the same box of the original tensor.
TEST(CheckpointReaderTest, ReshardingKeepsEveryBit) {
  std::mt19937 random(20261121);
  for (int round = 0; round < 12; ++round) {
    const CheckpointDirectory directory;
    std::vector<int64_t> shape;
    for (size_t d = 0; d < 1 + random() % 4; ++d) shape.push_back(1 + random() % 9);
    const torch::Tensor original = torch::randn(shape);
    torch::Tensor current = original;
    for (const int world : {1, 3, 2}) {
      SaveFromRanks(directory, world, world, Cut("w", current, 2 * world, &random));
      const CheckpointReader reader(directory.Step(world));
      current = ReadWhole(reader, "w");
      ASSERT_TRUE(SameBytes(current, original));
      for (int i = 0; i < 20; ++i) {
        std::vector<int64_t> offset, part;
        for (const int64_t extent : shape) {
          offset.push_back(random() % extent);
          part.push_back(1 + random() % (extent - offset.back()));
        }
        ASSERT_TRUE(SameBytes(ReadBox(reader, "w", offset, part), Slice(original, offset, part)));
      }
    }
  }
}

TEST(CheckpointReaderTest, ReadsSlicesOfLargeTensors) {
  const CheckpointDirectory directory;
  const torch::Tensor w = torch::arange(700 * 1100, torch::kInt32).view({700, 1100});
  directory.SaveWhole(1, {WholeTensor("w", w)});
  const CheckpointReader reader(directory.Step(1));
  EXPECT_TRUE(
      SameBytes(ReadBox(reader, "w", {0, 550}, {700, 550}), Slice(w, {0, 550}, {700, 550})));
  EXPECT_TRUE(SameBytes(ReadBox(reader, "w", {3, 7}, {690, 1}), Slice(w, {3, 7}, {690, 1})));
  EXPECT_TRUE(
      SameBytes(ReadBox(reader, "w", {350, 0}, {350, 1100}), Slice(w, {350, 0}, {350, 1100})));
}

// A bf16 weight and the low 16 bits of its fp32 master weight are stored as one fp32 number. This
// must also hold in a tensor that spans several blocks.
TEST(CheckpointReaderTest, SplitMasterWeightsAreStoredWhole) {
  const CheckpointDirectory directory;
  const torch::Tensor master = torch::randn({5, 1 << 20});
  TensorChunk weights = WholeTensor("w", torch::empty_like(master, torch::kBFloat16));
  weights.low_bits = torch::empty_like(master, torch::kInt16);
  SplitMasterWeights(master, weights.tensor, weights.low_bits);
  TensorChunk rest = WholeTensor("v", torch::ones({3}, torch::kBFloat16));
  directory.SaveWhole(1, {rest, weights});
  const CheckpointReader reader(directory.Step(1));
  EXPECT_TRUE(SameBytes(ReadWhole(reader, "w"), master));
  EXPECT_TRUE(SameBytes(ReadWhole(reader, "v"), rest.tensor));
  EXPECT_THAT(VerifyCheckpoint(directory.Step(1)), testing::IsEmpty());
}

// Each row is a block.
constexpr int64_t kRows = 10;
constexpr int64_t kColumns = kBlockBytes / 4;

class BlockTest : public testing::Test {
 protected:
  BlockTest() { directory_.SaveWhole(1, {WholeTensor("w", original_)}); }

  torch::Tensor ReadRows(int64_t first, int64_t count) const {
    return ReadBox(CheckpointReader(directory_.Step(1)), "w", {first, 0}, {count, kColumns});
  }
  // Damages one byte of the row.
  void Damage(int64_t row) const {
    FlipByte(file_, static_cast<int64_t>(std::filesystem::file_size(file_)) -
                        (kRows - row) * kColumns * 4 + 5);
  }
  void ExpectDamaged(const std::function<void()>& read) const {
    EXPECT_THAT(ErrorOf(read, ExitCode::kBadCheckpoint),
                testing::AllOf(HasSubstr("the checksum of tensor w"), HasSubstr(file_)));
  }
  // Rewrites the manifest in format version 2, which has one checksum for the whole chunk.
  void WriteAsVersion2() const {
    const std::string path = directory_.Step(1) + "/manifest.json";
    Manifest manifest = ManifestFromText(ReadFile(path, ExitCode::kInternal), path);
    StoredChunk& chunk = manifest.entries.tensors.at("w").chunks.at(0);
    chunk.block_bytes = chunk.end - chunk.begin;
    chunk.xxh64 = {XXH64(original_.data_ptr(), original_.nbytes(), 0)};
    WriteFileAtomically(path, ManifestToText(manifest));
  }

  const CheckpointDirectory directory_;
  const torch::Tensor original_ = torch::randn({kRows, kColumns});
  const std::string file_ = directory_.Step(1) + "/rank_00000.safetensors";
};

TEST_F(BlockTest, PartsOfAChunkAreWhatWasSaved) {
  EXPECT_TRUE(SameBytes(ReadRows(0, kRows), original_));
  EXPECT_TRUE(SameBytes(ReadRows(3, 2), original_.narrow(0, 3, 2)));
  const CheckpointReader reader(directory_.Step(1));
  EXPECT_TRUE(
      SameBytes(ReadBox(reader, "w", {2, 77}, {7, 1000}), Slice(original_, {2, 77}, {7, 1000})));
}

TEST_F(BlockTest, EveryBlockThatIsReadIsChecked) {
  Damage(5);
  EXPECT_TRUE(SameBytes(ReadRows(0, 4), original_.narrow(0, 0, 4)));
  EXPECT_TRUE(SameBytes(ReadRows(6, 4), original_.narrow(0, 6, 4)));
  ExpectDamaged([&] { ReadRows(0, kRows); });
  ExpectDamaged([&] { ReadRows(4, 2); });
  ExpectDamaged([&] { ReadBox(CheckpointReader(directory_.Step(1)), "w", {5, 70}, {1, 3}); });
  EXPECT_EQ(VerifyCheckpoint(directory_.Step(1)).size(), 1u);
}

TEST_F(BlockTest, ACheckpointOfVersion2IsCheckedWhereAChunkIsReadWhole) {
  WriteAsVersion2();
  EXPECT_THAT(VerifyCheckpoint(directory_.Step(1)), testing::IsEmpty());
  EXPECT_TRUE(SameBytes(ReadRows(0, kRows), original_));
  EXPECT_TRUE(SameBytes(ReadRows(3, 2), original_.narrow(0, 3, 2)));
  Damage(5);
  EXPECT_TRUE(SameBytes(ReadRows(6, 1), original_.narrow(0, 6, 1)));
  ExpectDamaged([&] { ReadRows(0, kRows); });
  EXPECT_EQ(VerifyCheckpoint(directory_.Step(1)).size(), 1u);
}

// Reads boxes of several tensors and ranks in one call, in arbitrary order. Every element must be
// written once, at its place in the output.
TEST(CheckpointReaderTest, ReadsManyBoxesAtOnce) {
  const CheckpointDirectory directory;
  std::mt19937 random(7);
  const torch::Tensor w = torch::randn({6, 1 << 20}), b = torch::randn({11, 13});
  std::vector<TensorChunk> chunks = Cut("w", w, 3, &random);
  for (TensorChunk& chunk : Cut("b", b, 5, &random)) chunks.push_back(std::move(chunk));
  SaveFromRanks(directory, 1, 2, chunks);
  torch::Tensor all = torch::zeros_like(w).view({-1}), part = torch::zeros({7 * 5});
  std::atomic<int64_t> elements = 0;
  const auto into = [&](torch::Tensor& target) {
    return [&](const ElementRows& some) {
      some.PlacesIn(target.narrow(0, some.first, some.span())).copy_(some.rows);
      elements += some.rows.numel();
    };
  };
  CheckpointReader(directory.Step(1))
      .ReadBoxes({{"w", {0, 0}, {6, 1 << 20}, into(all)}, {"b", {2, 3}, {7, 5}, into(part)}},
                 torch::kCPU);
  EXPECT_TRUE(SameBytes(all.view({6, 1 << 20}), w));
  EXPECT_TRUE(SameBytes(part.view({7, 5}), Slice(b, {2, 3}, {7, 5})));
  EXPECT_EQ(elements, w.numel() + 7 * 5);
}

TEST(CheckpointReaderTest, RefusesWhatIsNotInTheCheckpoint) {
  const CheckpointDirectory directory;
  directory.SaveWhole(1, {WholeTensor("w", torch::ones({2, 2}))});
  const CheckpointReader reader(directory.Step(1));
  EXPECT_THAT(ErrorOf([&] { ReadWhole(reader, "v"); }, ExitCode::kBadData),
              HasSubstr("has no tensor v"));
  EXPECT_THAT(ErrorOf(
                  [&] {
                    ReadBox(reader, "w", {0, 0}, {3, 2});
                  },
                  ExitCode::kBadData),
              HasSubstr("has shape [2, 2]"));
  EXPECT_THAT(ErrorOf([&] { ReadBox(reader, "w", {0}, {2}); }, ExitCode::kBadData),
              HasSubstr("has shape [2, 2]"));
}

TEST(CheckpointReaderTest, FindsMissingAndTornFiles) {
  const CheckpointDirectory directory;
  directory.SaveWhole(1, {WholeTensor("w", torch::ones({100}))});
  const std::string step = directory.Step(1);
  const std::string file = step + "/rank_00000.safetensors";
  const auto open = [&] { CheckpointReader reader(step); };
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_THAT(ErrorOf(open, ExitCode::kBadCheckpoint),
              HasSubstr("rank_00000.safetensors is damaged"));
  EXPECT_THAT(VerifyCheckpoint(step),
              testing::ElementsAre(HasSubstr("bytes instead of"),
                                   HasSubstr("cannot read tensor w (bytes ")));
  std::filesystem::remove(file);
  EXPECT_THAT(ErrorOf(open, ExitCode::kBadCheckpoint), HasSubstr("missing"));
  EXPECT_FALSE(VerifyCheckpoint(step).empty());
  std::filesystem::remove(step + "/manifest.json");
  EXPECT_THAT(ErrorOf(open, ExitCode::kBadCheckpoint), HasSubstr("is not a checkpoint"));
  EXPECT_EQ(VerifyCheckpoint(step).size(), 1u);
  EXPECT_TRUE(ListCheckpoints(directory.path()).empty());
  std::map<std::string, std::string> unreadable;
  EXPECT_TRUE(ListCheckpoints(directory.path(), &unreadable).empty());
  EXPECT_THAT(unreadable,
              testing::ElementsAre(testing::Pair(step, HasSubstr("is not a checkpoint"))));
}

// Without a free file descriptor, the manifest cannot be opened although it exists. The error must
// be that of a bad checkpoint, because the job can then retry from an older checkpoint. The error
// for a missing input would end the job permanently.
TEST(CheckpointReaderTest, AManifestThatCannotBeReadIsABadCheckpoint) {
  const CheckpointDirectory directory;
  directory.SaveWhole(1, {WholeTensor("w", torch::ones({100}))});
  const NoDescriptors none;
  EXPECT_THAT(
      ErrorOf([&] { CheckpointReader reader(directory.Step(1)); }, ExitCode::kBadCheckpoint),
      HasSubstr("manifest.json"));
}

TEST(CheckpointReaderTest, VerifyFindsEveryFlippedByte) {
  const CheckpointDirectory directory;
  directory.SaveWhole(1, {WholeTensor("w", torch::ones({9})), WholeTensor("b", torch::ones({3}))});
  const std::string step = directory.Step(1);
  EXPECT_TRUE(VerifyCheckpoint(step).empty());
  for (const char* name : {"rank_00000.safetensors", "manifest.json"}) {
    const std::string path = step + "/" + name;
    const int64_t bytes = static_cast<int64_t>(std::filesystem::file_size(path));
    for (int64_t offset = 0; offset < bytes; ++offset) {
      FlipByte(path, offset);
      ASSERT_FALSE(VerifyCheckpoint(step).empty()) << name << " " << offset;
      FlipByte(path, offset);
    }
  }
  EXPECT_TRUE(VerifyCheckpoint(step).empty());
}

// The writer publishes new checkpoints and deletes old ones while the test reads. A checkpoint that
// the writer knows to be in use must stay complete.
TEST(CheckpointReaderTest, ReadsWhileAWriterPublishes) {
  const CheckpointDirectory directory;
  directory.SaveWhole(1, {WholeTensor("w", torch::full({5000}, 1))});
  CheckpointWriterOptions options = directory.Options(2);
  options.retention.keep_last = 1;
  options.resumed_from = directory.Step(1);
  std::atomic<bool> over = false;
  std::thread training([&] {
    CheckpointWriter writer(options);
    for (int64_t step = 2; step <= 40; ++step) {
      writer.Save(step, {}, {WholeTensor("w", torch::full({5000}, step))});
    }
    writer.Finish();
    over = true;
  });
  int64_t newest = 1;
  do {
    EXPECT_EQ(ReadWhole(CheckpointReader(directory.Step(1)), "w").min().item<float>(), 1);
    // A listed checkpoint is complete and contains data of one step only, unless retention has
    // deleted it since.
    for (const PublishedCheckpoint& listed : ListCheckpoints(directory.path())) {
      newest = std::max(newest, listed.step);
      try {
        const torch::Tensor w = ReadWhole(CheckpointReader(listed.path), "w");
        EXPECT_EQ(w.min().item<float>(), static_cast<float>(listed.step));
        EXPECT_EQ(w.max().item<float>(), static_cast<float>(listed.step));
      } catch (const TrainerError&) {
        EXPECT_FALSE(std::filesystem::exists(listed.path)) << listed.path;
      }
    }
  } while (!over);
  training.join();
  EXPECT_GT(newest, 1);
  EXPECT_EQ(LatestCheckpoint(directory.path())->step, 40);
}

TEST(CheckpointReaderTest, LatestIsOfTheNewestAttempt) {
  const CheckpointDirectory directory;
  EXPECT_FALSE(LatestCheckpoint(directory.path()));
  EXPECT_FALSE(LatestCheckpoint(directory.path() + "/missing"));
  const std::vector<TensorChunk> chunks = {WholeTensor("w", torch::ones({2}))};
  directory.SaveWhole(100, chunks, 1);
  directory.SaveWhole(150, chunks, 1);
  directory.SaveWhole(60, chunks, 2);  // rolled back
  const std::vector<PublishedCheckpoint> list = ListCheckpoints(directory.path());
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[0].step, 100);
  EXPECT_EQ(list[1].step, 150);
  EXPECT_EQ(list[2].step, 60);
  EXPECT_EQ(LatestCheckpoint(directory.path())->path, directory.Step(60));
  int64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.Step(60))) {
    bytes += static_cast<int64_t>(entry.file_size());
  }
  EXPECT_EQ(list[2].bytes, bytes);
  directory.SaveWhole(10, chunks, AttemptKey{7, 1});  // a job has claimed the directory
  EXPECT_EQ(LatestCheckpoint(directory.path())->step, 10);
}

}  // namespace
}  // namespace trainyard::trainer
