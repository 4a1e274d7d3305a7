#include "trainer/checkpoint_tools/commands/reshard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/fakes/full_disk.h"
#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/cut_tensors.h"
#include "tests/trainer/checkpoint_tools/bytes_read.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/commands/diff.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::atomic<bool> kNotCancelled = false;

ReshardSummary Reshard(const ReshardOptions& options) {
  return trainer::Reshard(options, kNotCancelled);
}

// Returns the tensor names in a safetensors file, parsed without the trainer's own reader.
std::vector<std::string> KeysOf(const std::string& path) {
  const std::string text = ReadFile(path, ExitCode::kInternal);
  uint64_t length = 0;
  std::memcpy(&length, text.data(), 8);
  std::vector<std::string> keys;
  const nlohmann::json header = nlohmann::json::parse(text.substr(8, length));
  for (const auto& [key, _] : header.items()) {
    if (key != "__metadata__") keys.push_back(key);
  }
  return keys;
}

class ReshardTest : public testing::Test {
 protected:
  std::string Out(const std::string& name = "out") const { return to_.path() + "/" + name; }

  void ExpectSame(const std::string& out) const {
    EXPECT_THAT(VerifyCheckpoint(out), IsEmpty());
    EXPECT_TRUE(DiffCheckpoints({from_.Step(1), out}).IsWithin(0));
  }
  // Expects this error and that no output was created.
  void ExpectFails(const ReshardOptions& options, ExitCode code, const std::string& part) const {
    EXPECT_THAT(ErrorOf([&] { Reshard(options); }, code), HasSubstr(part));
    EXPECT_THAT(to_.Names(), IsEmpty());
  }

  const CheckpointDirectory from_, to_;
};

TEST_F(ReshardTest, AnyBoxesInAnyNumberOfFilesHaveTheSameContents) {
  std::mt19937 random(20261123);
  for (int round = 0; round < 20; ++round) {
    const CheckpointDirectory from;
    std::vector<TensorChunk> chunks = {WholeTensor("scalar", torch::tensor(7.5))};
    for (int i = 0; i < 4; ++i) {
      std::vector<int64_t> shape;
      for (size_t d = 0; d < 1 + random() % 3; ++d) shape.push_back(1 + random() % 20);
      const torch::Tensor values = torch::randn(shape);
      for (TensorChunk& chunk :
           Cut("t" + std::to_string(i), i % 2 == 0 ? values : values.to(torch::kBFloat16),
               1 + static_cast<int>(random() % 5), &random)) {
        chunks.push_back(std::move(chunk));
      }
    }
    SaveFromRanks(from, 1, 3, chunks, {{"samples", 8}});
    const int64_t files = 1 + static_cast<int64_t>(random() % 6);
    const std::string out = Out(std::to_string(round));
    EXPECT_EQ(Reshard({from.Step(1), out, files}).tensors, 5);
    EXPECT_THAT(VerifyCheckpoint(out), IsEmpty());
    EXPECT_TRUE(DiffCheckpoints({from.Step(1), out}).IsWithin(0));
  }
}

TEST_F(ReshardTest, KeepsWhatTheCheckpointSaysOfItself) {
  from_.SaveWhole(1, Weights(1), AttemptKey{7, 3});
  Reshard({from_.Step(1), Out(), 2});
  const CheckpointReader before(from_.Step(1)), after(Out());
  EXPECT_EQ(after.step(), 1);
  EXPECT_TRUE(after.manifest().attempt == (AttemptKey{7, 3}));
  EXPECT_EQ(after.model_fingerprint(), "tiny");
  EXPECT_EQ(after.trainer_state(), before.trainer_state());
  EXPECT_EQ(after.manifest().world_size, 2) << "one file for each rank that wrote";
}

TEST_F(ReshardTest, OneFileHasEveryTensorUnderItsName) {
  std::mt19937 random(5);
  std::vector<TensorChunk> chunks = Cut("w", torch::randn({8, 6}), 6, &random);
  chunks.push_back(WholeTensor("b", torch::ones({3}, torch::kBFloat16)));
  SaveFromRanks(from_, 1, 3, chunks);
  const ReshardSummary summary = Reshard({from_.Step(1), Out()});
  EXPECT_EQ(summary.files, 1) << "less than 4 GiB";
  EXPECT_EQ(summary.step, 1);
  EXPECT_THAT(KeysOf(Out() + "/rank_00000.safetensors"), ElementsAre("b", "w"));
  ExpectSame(Out());
}

// Column slices of 24 and 40 MiB must become three files of about equal size.
TEST_F(ReshardTest, LargeTensorsAreSpreadEvenlyAndReadOnce) {
  const torch::Tensor w = torch::randn({16, 1 << 20});
  const int64_t columns = 393216;
  SaveFromRanks(from_, 1, 2,
                {{"w", {16, 1 << 20}, {0, 0}, w.narrow(1, 0, columns)},
                 {"w", {16, 1 << 20}, {0, columns}, w.narrow(1, columns, (1 << 20) - columns)},
                 WholeTensor("v", torch::randn({5 << 20}))});
  const int64_t before = BytesRead();
  const ReshardSummary summary = Reshard({from_.Step(1), Out(), 3});
  EXPECT_LT(BytesRead() - before, (84 << 20) + (256 << 10));
  EXPECT_EQ(summary.files, 3);
  for (const char* name : {"0", "1", "2"}) {
    const std::string path = Out() + "/rank_0000" + name + ".safetensors";
    EXPECT_NEAR(static_cast<double>(FileBytes(path)), 28 << 20, 4 << 20) << "a row, at most";
  }
  ExpectSame(Out());
}

TEST_F(ReshardTest, TensorsWithoutElementsStay) {
  from_.SaveWhole(1, Weights(1));
  const std::string path = from_.Step(1) + "/manifest.json";
  Manifest manifest = ManifestFromText(ReadFile(path, ExitCode::kInternal), path);
  manifest.entries.tensors["empty"] = {torch::kFloat32, {0, 4}, {}};
  WriteFileAtomically(path, ManifestToText(manifest));
  Reshard({from_.Step(1), Out()});
  EXPECT_TRUE(CheckpointReader(Out()).Has("empty"));
  ExpectSame(Out());
}

TEST_F(ReshardTest, WeightsAlone) {
  std::vector<TensorChunk> chunks = Weights(1);
  chunks.push_back(WholeTensor("optimizer.exp_avg.w", torch::ones({64, 3})));
  from_.SaveWhole(1, chunks);
  EXPECT_EQ(Reshard({from_.Step(1), Out(), 1, true}).tensors, 2);
  EXPECT_FALSE(CheckpointReader(Out()).Has("optimizer.exp_avg.w"));
  EXPECT_TRUE(DiffCheckpoints({from_.Step(1), Out(), 0, "weights"}).IsWithin(0));
  EXPECT_THAT(VerifyCheckpoint(Out()), IsEmpty());
}

TEST_F(ReshardTest, DamagedInputMakesNothing) {
  from_.SaveWhole(1, Weights(1));
  const std::string file = from_.Step(1) + "/rank_00000.safetensors";
  FlipByte(file, FileBytes(file) - 1);
  ExpectFails({from_.Step(1), Out()}, ExitCode::kBadCheckpoint, "the checksum of tensor b");
  ExpectFails({"/no/such", Out()}, ExitCode::kBadCheckpoint, "/no/such is not a checkpoint");
  ExpectFails({from_.path(), Out()}, ExitCode::kBadCheckpoint, "such as " + from_.Step(1));
  FlipByte(from_.Step(1) + "/manifest.json", 50);
  ExpectFails({from_.Step(1), Out()}, ExitCode::kBadCheckpoint, "its checksum does not match");
}

TEST_F(ReshardTest, NeverReplacesUnasked) {
  from_.SaveWhole(1, Weights(1));
  const CheckpointDirectory other;
  other.SaveWhole(1, Weights(2));
  const auto expect = [&](const std::string& out, bool replace, const std::string& part) {
    EXPECT_THAT(ErrorOf(
                    [&] {
                      Reshard({from_.Step(1), out, 1, false, replace});
                    },
                    ExitCode::kCannotWrite),
                HasSubstr(part));
  };
  expect(other.Step(1), false, "replace the checkpoint with --force");
  EXPECT_EQ(ValueIn(other.Step(1)), 2);
  expect(other.path(), true, "this path exists and is not a checkpoint");
  EXPECT_THAT(other.Names(), ElementsAre("step_000000001"));
  Reshard({from_.Step(1), other.Step(1), 1, false, true});
  EXPECT_EQ(ValueIn(other.Step(1)), 1);
  EXPECT_THAT(other.Names(), ElementsAre("step_000000001")) << "the old one is gone";
  std::filesystem::create_directory(Out());
  Reshard({from_.Step(1), Out() + "/"});
  ExpectSame(Out());
}

TEST_F(ReshardTest, RefusesPlacesThatMakeNoSense) {
  from_.SaveWhole(1, Weights(1));
  const auto expect = [&](const std::string& out, bool weights_only, const std::string& part) {
    ExpectFails({from_.Step(1), out, 1, weights_only, true}, ExitCode::kUsage, part);
  };
  expect(from_.Step(1), false, "or is inside that directory");
  expect(from_.Step(1) + "/in/it", false, "or is inside that directory");
  std::filesystem::create_symlink(from_.Step(1), to_.path() + "/link");
  EXPECT_THAT(ErrorOf(
                  [&] {
                    Reshard({from_.Step(1), Out("link/in/it")});
                  },
                  ExitCode::kUsage),
              HasSubstr("or is inside that directory"));
  std::filesystem::remove(to_.path() + "/link");
  expect(to_.path() + "/..", false, "name the directory to create");
  expect(to_.Step(2), false, "must be called step_000000001");
  expect(to_.Step(1), true, "no job can resume from weights alone");
  EXPECT_THAT(from_.Names(), ElementsAre("step_000000001"));
  Reshard({from_.Step(1), to_.Step(1)});  // Trainers may use it: the name is the usual one.
  EXPECT_EQ(LatestCheckpoint(to_.path())->path, to_.Step(1));
}

TEST_F(ReshardTest, AFullDiskLeavesNothing) {
  from_.SaveWhole(1, Weights(1));
  std::string error;
  {
    const FullDisk full(600);
    error = ErrorOf([&] { Reshard({from_.Step(1), Out(), 1}); }, ExitCode::kCannotWrite);
  }
  EXPECT_THAT(error, HasSubstr("cannot write"));
  EXPECT_THAT(to_.Names(), IsEmpty());
}

TEST_F(ReshardTest, CancellingLeavesNothing) {
  from_.SaveWhole(1, Weights(1));
  for (const ReshardPhase point : {ReshardPhase::kWindowWritten, ReshardPhase::kManifestWritten}) {
    std::atomic<bool> is_cancelled = false;
    ReshardOptions options = {from_.Step(1), Out(), 1};
    options.on_phase = [&](ReshardPhase phase) { is_cancelled = is_cancelled || phase == point; };
    EXPECT_THAT(ErrorOf([&] { trainer::Reshard(options, is_cancelled); }, ExitCode::kTerminated),
                HasSubstr("interrupted"));
    EXPECT_THAT(to_.Names(), IsEmpty());
  }
}

}  // namespace
}  // namespace trainyard::trainer
