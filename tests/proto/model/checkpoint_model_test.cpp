#include "proto/model/checkpoint_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "proto/model/model_fingerprint.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ModelConfig SmallModel() {
  ModelConfig model;
  model.num_layers = 2;
  model.hidden_size = 32;
  model.ffn_hidden_size = 64;
  model.num_attention_heads = 4;
  model.num_query_groups = 2;
  model.vocab_size = 64;
  return model;
}

class CheckpointModelTest : public ::testing::Test {
 protected:
  CheckpointModelTest()
      : directory_(::testing::TempDir() + "checkpoint_model_" +
                   ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~CheckpointModelTest() override { std::filesystem::remove_all(directory_); }

  std::string Manifest() const { return directory_ + "/manifest.json"; }
  void Write(const std::string& text) const { std::ofstream(Manifest()) << text; }
  // Writes the keys in the order of a manifest: the list of files precedes the model.
  void WriteModel(const std::string& model) const {
    const nlohmann::json manifest = {
        {"files", {{{"name", "rank_00000.safetensors"}, {"model", "no"}}}},
        {"model", model},
        {"tensors", {{{"name", "model.norm.weight"}}}}};
    Write("{\"xxh64\":\"0\"," + manifest.dump().substr(1));
  }

  std::string directory_;
};

TEST_F(CheckpointModelTest, AcceptsACheckpointOfTheModel) {
  WriteModel(ModelFingerprint(SmallModel()));
  const CheckpointFit fit = CheckCheckpointModel(directory_, SmallModel());
  EXPECT_THAT(fit.problem, IsEmpty());
  EXPECT_THAT(fit.unchecked, IsEmpty());
}

TEST_F(CheckpointModelTest, NamesWhatDiffers) {
  ModelConfig other = SmallModel();
  other.vocab_size = 128;
  WriteModel(ModelFingerprint(other));
  const CheckpointFit fit = CheckCheckpointModel(directory_, SmallModel());
  EXPECT_THAT(
      fit.problem,
      HasSubstr(
          "is of another model: model.vocab_size is 64 in this job and 128 in the checkpoint"));
}

TEST_F(CheckpointModelTest, ADirectoryWithoutAManifestIsNoCheckpoint) {
  EXPECT_THAT(CheckCheckpointModel(directory_, SmallModel()).problem,
              HasSubstr("no manifest.json"));
}

TEST_F(CheckpointModelTest, ADirectoryOfCheckpointsNamesTheNewest) {
  for (const char* name : {"step_000000100", "step_000000020", "step_000000300.tmp-1", "notes"}) {
    std::filesystem::create_directory(directory_ + "/" + name);
  }
  EXPECT_THAT(CheckCheckpointModel(directory_, SmallModel()).problem, Not(HasSubstr("newest")));
  for (const char* name : {"step_000000100", "step_000000020", "step_000000300.tmp-1", "notes"}) {
    std::ofstream(directory_ + "/" + name + "/manifest.json") << "{}";
  }
  EXPECT_THAT(CheckCheckpointModel(directory_, SmallModel()).problem,
              HasSubstr("the newest is " + directory_ + "/step_000000100"));
}

TEST_F(CheckpointModelTest, AFileIsNoCheckpoint) {
  const std::string file = directory_ + "/model.bin";
  std::ofstream(file) << "x";
  EXPECT_THAT(CheckCheckpointModel(file, SmallModel()).problem, HasSubstr("not a directory"));
}

TEST_F(CheckpointModelTest, WhatCannotBeSeenIsNotChecked) {
  const CheckpointFit fit = CheckCheckpointModel(directory_ + "/away", SmallModel());
  EXPECT_THAT(fit.problem, IsEmpty());
  EXPECT_THAT(fit.unchecked, HasSubstr("is not visible from this machine"));
}

TEST_F(CheckpointModelTest, ManifestsThatNameNoModelAreNotChecked) {
  for (const char* text : {"", "no JSON", "{\"files\":[]}", "{\"model\":7}", "[[[["}) {
    Write(text);
    const CheckpointFit fit = CheckCheckpointModel(directory_, SmallModel());
    EXPECT_THAT(fit.problem, IsEmpty()) << text;
    EXPECT_THAT(fit.unchecked, HasSubstr("contains no readable description of the model")) << text;
  }
  WriteModel("fingerprint");
  EXPECT_THAT(CheckCheckpointModel(directory_, SmallModel()).unchecked,
              HasSubstr("in the format of another release"));
}

TEST_F(CheckpointModelTest, APipeInPlaceOfTheManifestDoesNotBlock) {
  ASSERT_EQ(mkfifo(Manifest().c_str(), 0600), 0);
  EXPECT_THAT(CheckCheckpointModel(directory_, SmallModel()).unchecked, HasSubstr("cannot read"));
}

TEST_F(CheckpointModelTest, DeepNestingIsCutOff) {
  WriteModel("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}");
  EXPECT_THAT(CheckCheckpointModel(directory_, SmallModel()).problem, HasSubstr("another model"));
}

}  // namespace
}  // namespace trainyard
