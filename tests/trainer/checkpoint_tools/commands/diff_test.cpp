#include "trainer/checkpoint_tools/commands/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/cut_tensors.h"
#include "tests/trainer/checkpoint_tools/bytes_read.h"
#include "tests/trainer/config/error_of.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DiffTest : public testing::Test {
 protected:
  CheckpointDiff Diff(const std::string& only = "") const {
    return DiffCheckpoints({a_.Step(1), b_.Step(1), 0, only});
  }

  static void Save(const CheckpointDirectory& directory, const std::string& model,
                   const json& state) {
    CheckpointWriterOptions options = directory.Options();
    options.model_fingerprint = model;
    CheckpointWriter writer(options);
    writer.Save(1, state, Weights(1));
    writer.Finish();
  }

  const CheckpointDirectory a_, b_;
};

const TensorDifference& Find(const CheckpointDiff& diff, const std::string& name) {
  for (const TensorDifference& tensor : diff.tensors) {
    if (tensor.name == name) return tensor;
  }
  throw std::out_of_range(name);
}

// The two checkpoints contain equal tensors, split into different boxes and written by different
// numbers of ranks.
TEST_F(DiffTest, TheLayoutIsNoDifference) {
  std::mt19937 random(3);
  for (int round = 0; round < 10; ++round) {
    const CheckpointDirectory left, right;
    const torch::Tensor w = torch::randn({9, 7, 3}), v = torch::randn({31}).to(torch::kBFloat16);
    for (const auto& [directory, world] : {std::pair(&left, 3), std::pair(&right, 2)}) {
      std::vector<TensorChunk> chunks = Cut("w", w, 5, &random);
      for (TensorChunk& chunk : Cut("v", v, 3, &random)) chunks.push_back(std::move(chunk));
      SaveFromRanks(*directory, 1, world, chunks);
    }
    const CheckpointDiff diff = DiffCheckpoints({left.Step(1), right.Step(1)});
    EXPECT_TRUE(diff.IsWithin(0));
    EXPECT_EQ(diff.tensors.size(), 2u);
    EXPECT_EQ(Find(diff, "w").values->elements, w.numel());
    EXPECT_GT(Find(diff, "w").values->squared_a, 0);
  }
}

TEST_F(DiffTest, FindsOneBitInALargeTensor) {
  torch::Tensor w = torch::randn({5, 1 << 22});  // 80 MiB: compared in more than one piece
  a_.SaveWhole(1, {WholeTensor("w", w)});
  w[4][(1 << 22) - 1] += 1;
  std::mt19937 random(4);
  SaveFromRanks(b_, 1, 2, Cut("w", w, 3, &random), {{"samples", 8}});
  const int64_t before = BytesRead();
  const CheckpointDiff diff = Diff();
  EXPECT_LT(BytesRead() - before, (161 << 20)) << "each block is read once";
  EXPECT_EQ(Find(diff, "w").values->elements, w.numel());
  EXPECT_EQ(Find(diff, "w").values->different, 1);
  EXPECT_NEAR(Find(diff, "w").values->max_abs, 1, 1e-6);
  EXPECT_FALSE(diff.IsWithin(0));
  EXPECT_FALSE(diff.IsWithin(1e-5));
  EXPECT_TRUE(diff.IsWithin(1e-3));
}

TEST_F(DiffTest, NamesWhatOnlyOneHasAndWhatHasAnotherForm) {
  const torch::Tensor ones = torch::ones({2, 3});
  a_.SaveWhole(1, {WholeTensor("alike", ones), WholeTensor("gone", ones),
                   WholeTensor("shape", ones), WholeTensor("type", ones)});
  b_.SaveWhole(1, {WholeTensor("alike", ones), WholeTensor("new", ones),
                   WholeTensor("shape", ones.t()), WholeTensor("type", ones.to(torch::kBFloat16))});
  const CheckpointDiff diff = Diff();
  std::vector<std::string> names;
  for (const TensorDifference& tensor : diff.tensors) names.push_back(tensor.name);
  EXPECT_THAT(names, ElementsAre("alike", "gone", "new", "shape", "type"));
  EXPECT_TRUE(Find(diff, "alike").IsWithin(0));
  EXPECT_TRUE(Find(diff, "gone").a && !Find(diff, "gone").b);
  EXPECT_TRUE(!Find(diff, "new").a && Find(diff, "new").b);
  for (const char* name : {"gone", "new", "shape", "type"}) {
    EXPECT_FALSE(Find(diff, name).values) << name;
    EXPECT_FALSE(Find(diff, name).IsWithin(1e9)) << name;
  }
  EXPECT_FALSE(diff.IsWithin(1e9));
}

TEST_F(DiffTest, ComparesSettingsAndState) {
  Save(a_, R"({"num_layers":2,"hidden_size":8})", {{"samples", 80}, {"skip_samples", ""}});
  Save(b_, R"({"num_layers":3,"hidden_size":8})", {{"samples", 88}, {"data_seed", 7}});
  const CheckpointDiff diff = Diff();
  ASSERT_EQ(diff.settings.size(), 4u);
  EXPECT_EQ(diff.settings[0].key, "model.num_layers");
  EXPECT_EQ(diff.settings[0].a, 2);
  EXPECT_EQ(diff.settings[0].b, 3);
  EXPECT_EQ(diff.settings[1].key, "trainer.data_seed");
  EXPECT_EQ(diff.settings[1].a, nullptr);
  EXPECT_EQ(diff.settings[2].key, "trainer.samples");
  EXPECT_EQ(diff.settings[3].key, "trainer.skip_samples");
  EXPECT_EQ(diff.settings[3].b, nullptr);
  EXPECT_FALSE(diff.IsWithin(0)) << "though all tensors are equal";
  EXPECT_TRUE(Diff("w").IsWithin(0)) << "only tensors are compared";
}

TEST_F(DiffTest, StepsAndOtherFingerprintsDiffer) {
  Save(a_, "tiny", {});
  CheckpointWriterOptions options = b_.Options();
  options.model_fingerprint = "small";
  CheckpointWriter writer(options);
  writer.Save(2, {}, Weights(1));
  writer.Finish();
  const CheckpointDiff diff = DiffCheckpoints({a_.Step(1), b_.Step(2)});
  ASSERT_EQ(diff.settings.size(), 2u);
  EXPECT_EQ(diff.settings[0].key, "model");
  EXPECT_EQ(diff.settings[0].b, "small");
  EXPECT_EQ(diff.settings[1].key, "trainer.step");
  EXPECT_EQ(diff.settings[1].b, 2);
}

TEST_F(DiffTest, ChoosesTensors) {
  std::vector<TensorChunk> chunks = Weights(1);
  chunks.push_back(WholeTensor("optimizer.exp_avg.w", torch::ones({64, 3})));
  a_.SaveWhole(1, chunks);
  chunks.back().tensor = torch::zeros({64, 3});
  b_.SaveWhole(1, chunks);
  EXPECT_TRUE(Diff("weights").IsWithin(0));
  EXPECT_EQ(Diff("weights").tensors.size(), 2u);
  EXPECT_FALSE(Diff("optimizer").IsWithin(0));
  EXPECT_EQ(Diff("optimizer").tensors.size(), 1u);
  EXPECT_EQ(Diff("optimizer.exp_avg.").tensors.size(), 1u);
  EXPECT_EQ(Diff("b").tensors.size(), 1u);
  EXPECT_THAT(ErrorOf([&] { Diff("lm_head"); }, ExitCode::kUsage), HasSubstr("`--only lm_head`"));
}

TEST_F(DiffTest, UnreadableCheckpointsAreErrors) {
  a_.SaveWhole(1, Weights(1));
  b_.SaveWhole(1, Weights(1));
  const auto diff = [](const std::string& a, const std::string& b) {
    return ErrorOf([&] { DiffCheckpoints({a, b}); }, ExitCode::kBadCheckpoint);
  };
  EXPECT_THAT(diff(a_.Step(1), "/no/such"), HasSubstr("/no/such is not a checkpoint"));
  EXPECT_THAT(diff(a_.path(), b_.Step(1)), HasSubstr("such as " + a_.Step(1)));
  FlipByte(
      b_.Step(1) + "/rank_00000.safetensors",
      static_cast<int64_t>(std::filesystem::file_size(b_.Step(1) + "/rank_00000.safetensors")) - 1);
  EXPECT_THAT(diff(a_.Step(1), b_.Step(1)), HasSubstr("does not match"));
}

}  // namespace
}  // namespace trainyard::trainer
