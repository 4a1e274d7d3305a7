#include "data/report/mix_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "data/report/chain.h"
#include "data/tokens/dataset_description.h"
#include "tests/data/text_directory.h"
#include "tests/data/tokens/vocab_only.h"
#include "tests/data/tokens/written_dataset.h"

namespace trainyard::data {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MixStepTest : public testing::Test {
 protected:
  MixStepTest() {
    json sources = json::array();
    for (const char* name : {"web", "code"}) {
      const std::string path = directory_ / name;
      std::filesystem::create_directory(path);
      WriteDataset(path, VocabOnly(10), OutputFormat::kTrainyard);
      json source = {{"name", name}, {"path", path}, {"tokens", 9}, {"documents", 3}};
      const auto description = ReadDescription(path);
      EXPECT_TRUE(description.ok()) << description.status();
      for (const TokenFileFacts& file : description->splits[0].files) {
        source["xxh64"][file.name] = file.xxh64;
      }
      sources.push_back(source);
    }
    sources[1]["epochs"] = 4.5;
    mix_ = {{"format", "trainyard-mix"},
            {"version", 1},
            {"tokens", 100},
            {"step_tokens", 0},
            {"weight_sum", 0.97},
            {"sources", sources},
            {"stages", json::array({{{"step", 1}, {"weights", {0.75, 0.25}}}})},
            {"warnings", json::array()}};
    Write();
  }

  void Write() const { directory_.Write("mix/mix.json", mix_.dump()); }

  const TextDirectory directory_;
  json mix_;
};

TEST_F(MixStepTest, ReadsTheSources) {
  ASSERT_TRUE(IsMixDirectory(directory_ / "mix"));
  EXPECT_FALSE(IsMixDirectory(directory_ / "web"));
  const auto step = ReadMixStep(directory_ / "mix/");
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_EQ(step->name, "mix");
  EXPECT_EQ(step->directory, directory_ / "mix");
  EXPECT_EQ(step->settings["weight_sum"], 0.97);
  ASSERT_EQ(step->inputs.size(), 2u);
  EXPECT_EQ(step->inputs[0].directory, directory_ / "web");
  EXPECT_EQ(step->inputs[0].use, "blend");
  EXPECT_EQ(step->inputs[0].files, 2) << "train.bin and train.sources";
  EXPECT_GT(step->inputs[0].bytes, 0);
  EXPECT_EQ(step->mix["sources"][0]["weight"], 0.75);
  EXPECT_TRUE(step->mix["sources"][0]["epochs"].is_null());
  EXPECT_EQ(step->mix["sources"][1]["epochs"], 4.5);
  EXPECT_THAT(step->problems, IsEmpty());
}

TEST_F(MixStepTest, IsTheLastStepOfTheChain) {
  const auto report = ReadChain(directory_ / "mix");
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->steps.size(), 3u);
  EXPECT_EQ(report->steps[0].directory, directory_ / "web");
  EXPECT_EQ(report->steps[2].inputs[1].step, 1u);
  const json step = json::parse(ChainJson(*report))["steps"][2];
  EXPECT_TRUE(step["run"].is_null());
  EXPECT_TRUE(step["tokens"].is_null());
  EXPECT_EQ(step["mix"]["sources"][1]["name"], "code");
  EXPECT_EQ(step["mix"]["stages"][0]["step"], 1);
}

TEST_F(MixStepTest, NamesChangedAndMissingDataSets) {
  mix_["sources"][0]["xxh64"]["train.bin"] = "0000000000000000";
  mix_["warnings"] = {"code is read 4.5 times"};
  Write();
  std::filesystem::remove_all(directory_ / "code");
  const auto step = ReadMixStep(directory_ / "mix");
  ASSERT_TRUE(step.ok()) << step.status();
  EXPECT_THAT(step->problems,
              ElementsAre(HasSubstr((directory_ / "web") + " is missing or has changed since"),
                          HasSubstr((directory_ / "code") + " is missing or has changed since"),
                          "code is read 4.5 times"));
}

TEST_F(MixStepTest, RefusesADamagedFile) {
  mix_["stages"] = json::array();
  Write();
  EXPECT_EQ(ReadMixStep(directory_ / "mix").status().code(), absl::StatusCode::kDataLoss);
  mix_["version"] = 2;
  Write();
  EXPECT_THAT(std::string(ReadMixStep(directory_ / "mix").status().message()),
              HasSubstr("has another format or version"));
}

}  // namespace
}  // namespace trainyard::data
