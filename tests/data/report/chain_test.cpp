#include "data/report/chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "data/stages/input_sources.h"
#include "data/tokens/provenance_file.h"
#include "tests/data/stages/stage_runs.h"
#include "tests/data/tokens/vocab_only.h"
#include "tests/data/tokens/written_dataset.h"

namespace trainyard::data {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Drops texts with a 9, and keeps the others.
Stage DropNine() {
  Stage stage;
  stage.name = "nine";
  stage.settings = {{"digit", 9}};
  stage.begin_block = []() -> ProcessDocument {
    return [](const Document& document, BlockOutput* output) {
      if (document.text.find('9') == std::string_view::npos) {
        return output->Keep(document.json, document.text.size());
      }
      return output->Drop(document, "nine", document.json);
    };
  };
  return stage;
}

class ChainTest : public testing::Test {
 protected:
  // Runs a stage on the output of another one.
  absl::Status RunOn(const std::string& input, const Stage& stage, const std::string& out,
                     bool replace = false) {
    const auto inputs = FindInputFiles({runs_.out(input)});
    if (!inputs.ok()) return inputs.status();
    const auto plan = PlanStage(stage, {}, *inputs);
    if (!plan.ok()) return plan.status();
    RunSettings settings;
    settings.out = runs_.out(out);
    settings.replace = replace;
    const RunObserver observer = {[](size_t, size_t, int64_t) {}, [](int64_t) {}};
    return RunStage(stage, *plan, settings, observer, runs_.cancelled()).status();
  }

  // Writes token files that name `input` as their input.
  void WriteTokens(const std::string& input, const std::string& out) {
    const std::string directory = runs_.out(out);
    std::filesystem::create_directory(directory);
    WriteDataset(directory, VocabOnly(10), OutputFormat::kTrainyard);
    const json split = {{"documents", 3}, {"tokens", 9}, {"bytes", 27}};
    const json provenance = {
        {"format", kProvenanceFormat},
        {"version", kProvenanceVersion},
        {"command", "prepare"},
        {"settings", {{"tokenizer", "test"}}},
        {"tokenizer", {{"name", "test"}}},
        {"working_directory", ""},
        {"inputs", SourcesJson(SourcesOf(*FindInputFiles({runs_.out(input)})))},
        {"bad_lines", 0},
        {"repaired", 0},
        {"splits", {{"train", split}, {"val", split}}}};
    WriteFile(directory + "/" + kProvenanceFile, provenance.dump());
  }

  ChainReport Read(const std::string& directory) {
    auto report = ReadChain(runs_.out(directory));
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *std::move(report) : ChainReport{{StepReport{}}, false};
  }

  StageRuns runs_;
};

TEST_F(ChainTest, FollowsTheInputsToTheFirstStep) {
  ASSERT_EQ(RunOn("in", DropRed(), "a"), absl::OkStatus());
  ASSERT_EQ(RunOn("a", DropNine(), "b"), absl::OkStatus());
  WriteTokens("b", "tokens");
  const ChainReport report = Read("tokens");
  ASSERT_EQ(report.steps.size(), 3u);
  const StepReport& red = report.steps[0];
  EXPECT_EQ(red.name, "red");
  EXPECT_EQ(red.documents_in, 312);
  EXPECT_EQ(red.documents_out, 312 - 63);
  ASSERT_EQ(red.inputs.size(), 1u);
  EXPECT_EQ(red.inputs[0].directory, runs_.out("in"));
  EXPECT_EQ(red.inputs[0].documents_in, 312);
  EXPECT_EQ(red.inputs[0].documents_out, 312 - 63);
  EXPECT_FALSE(red.inputs[0].step);
  ASSERT_EQ(red.dropped.size(), 1u);
  EXPECT_EQ(red.dropped[0].samples[0], runs_.out("in/a.jsonl") + ":1");
  const StepReport& nine = report.steps[1];
  EXPECT_EQ(nine.documents_in, 312 - 63);
  EXPECT_EQ(nine.inputs[0].step, 0u);
  EXPECT_EQ(nine.inputs[0].plan, red.plan);
  EXPECT_THAT(nine.problems, IsEmpty());
  const StepReport& tokens = report.steps[2];
  EXPECT_EQ(tokens.inputs[0].step, 1u);
  ASSERT_EQ(tokens.splits.size(), 2u);
  EXPECT_EQ(tokens.splits[0].tokens, 9);
  EXPECT_EQ(tokens.splits[0].bytes, 27);
}

TEST_F(ChainTest, NamesTheSlowestBlocks) {
  ASSERT_EQ(runs_.Run(DropRed(), "a"), absl::OkStatus());
  const StepReport step = Read("a").steps.front();
  ASSERT_GT(step.blocks, StepReport::kSlowBlocksListed);
  ASSERT_EQ(step.slowest.size(), StepReport::kSlowBlocksListed);
  EXPECT_GE(step.slowest[0].seconds, step.slowest[2].seconds);
  EXPECT_LE(step.slowest[0].seconds, step.seconds);
  const json block = json::parse(ChainJson(Read("a")))["steps"][0]["run"]["slowest_blocks"][0];
  EXPECT_EQ(block["file"], step.slowest[0].file);
  EXPECT_EQ(block["bytes_on_disk"], step.slowest[0].bytes);
}

TEST_F(ChainTest, ListsTheSourcesWithTheMostTokens) {
  StepReport step;
  step.splits = {{"train", 1, 2, 3}};
  for (int i = 0; i < 105; ++i) step.sources.push_back({"/s" + std::to_string(i), 1, 8, i});
  const json tokens = json::parse(ChainJson({{step}, false}))["steps"][0]["tokens"];
  ASSERT_EQ(tokens["sources"].size(), 101u);
  EXPECT_EQ(tokens["sources"][0]["directory"], "/s104");
  EXPECT_EQ(tokens["sources"][0]["bytes_per_token"], 8.0 / 104);
  EXPECT_EQ(tokens["sources"][100]["directory"], "");
  EXPECT_EQ(tokens["sources"][100]["tokens"], 0 + 1 + 2 + 3 + 4);
  EXPECT_EQ(tokens["sources"][100]["documents"], 5);
}

TEST_F(ChainTest, AStepThatWasUsedTwiceIsListedOnce) {
  ASSERT_EQ(RunOn("in", DropRed(), "both/a"), absl::OkStatus());
  ASSERT_EQ(RunOn("both/a", DropNine(), "both/b"), absl::OkStatus());
  ASSERT_EQ(RunOn("both", DropNine(), "c"), absl::OkStatus());
  const ChainReport report = Read("c");
  ASSERT_EQ(report.steps.size(), 3u);
  EXPECT_EQ(report.steps[2].inputs[0].step, 0u);
  EXPECT_EQ(report.steps[2].inputs[1].step, 1u);
}

TEST_F(ChainTest, NamesIncompleteRuns) {
  int documents = 0;
  const Fault fault = [&documents](int64_t) {
    return ++documents > 250 ? absl::InternalError("disk") : absl::OkStatus();
  };
  ASSERT_FALSE(runs_.Run(DropRed(fault), "out", {.threads = 1}).ok());
  const ChainReport report = Read("out");
  EXPECT_FALSE(report.steps[0].is_complete);
  EXPECT_GT(report.steps[0].blocks_done, 0u);
  EXPECT_LT(report.steps[0].blocks_done, report.steps[0].blocks);
  EXPECT_GT(report.steps[0].documents_in, 0);
  EXPECT_THAT(report.steps[0].problems, ElementsAre(HasSubstr("is incomplete")));
}

TEST_F(ChainTest, NamesChangedAndMissingInputs) {
  ASSERT_EQ(RunOn("in", DropRed(), "a"), absl::OkStatus());
  ASSERT_EQ(RunOn("a", DropNine(), "b"), absl::OkStatus());
  runs_.files().Write("in/f.jsonl", "{\"text\": \"new\"}\n");
  ASSERT_EQ(RunOn("in", DropNine(), "a", /*replace=*/true), absl::OkStatus());
  const std::vector<std::string> problems = Read("b").steps[1].problems;
  EXPECT_THAT(problems, testing::Contains(HasSubstr("was written by another run (plan ")));
  EXPECT_THAT(problems, testing::Contains(HasSubstr("inputs of " + runs_.out("b") +
                                                    " are missing or have changed since, first " +
                                                    runs_.out("a/part-00000.jsonl.zst"))));
  std::filesystem::remove_all(runs_.out("a"));
  EXPECT_THAT(Read("b").steps[0].problems, testing::Contains(HasSubstr("cannot be read: ")));
}

TEST_F(ChainTest, TokenFilesWithoutProvenanceAreShownWithoutInputs) {
  WriteTokens("in", "tokens");
  std::filesystem::remove(runs_.out("tokens/provenance.json"));
  const ChainReport report = Read("tokens");
  ASSERT_EQ(report.steps.size(), 1u);
  EXPECT_EQ(report.steps[0].splits[0].documents, 3);
  EXPECT_FALSE(report.steps[0].splits[0].bytes);
  EXPECT_THAT(report.steps[0].problems, ElementsAre(HasSubstr("has no provenance.json")));
  runs_.files().Write("tokens/provenance.json", "{\"format\": 1}");
  EXPECT_EQ(ReadChain(runs_.out("tokens")).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(ChainTest, OtherDirectoriesAreRefused) {
  const absl::Status status = ReadChain(runs_.out("in")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("contains neither token files"));
}

TEST_F(ChainTest, TheJsonHasTheDocumentedFields) {
  ASSERT_EQ(RunOn("in", DropRed(), "a"), absl::OkStatus());
  WriteTokens("a", "tokens");
  const json report = json::parse(ChainJson(Read("tokens")));
  EXPECT_EQ(report["format"], "trainyard-data-report");
  EXPECT_EQ(report["version"], 1);
  EXPECT_EQ(report["directory"], runs_.out("tokens"));
  const json& run = report["steps"][0];
  EXPECT_EQ(run["name"], "red");
  EXPECT_EQ(run["settings"]["word"], "red");
  EXPECT_EQ(run["run"]["documents_out"], 249);
  EXPECT_EQ(run["run"]["dropped"][0]["reason"], "red");
  EXPECT_EQ(run["run"]["dropped"][0]["documents"], 63);
  EXPECT_EQ(run["run"]["other_dropped"]["reasons"], 0);
  EXPECT_EQ(run["run"]["lengths"][0]["from"], 8);
  EXPECT_EQ(run["run"]["lengths"][0]["below"], 16);
  EXPECT_TRUE(run["tokens"].is_null());
  EXPECT_TRUE(run["inputs"][0]["step"].is_null());
  const json& tokens = report["steps"][1];
  EXPECT_EQ(tokens["inputs"][0]["step"], 0);
  EXPECT_TRUE(tokens["run"].is_null());
  EXPECT_EQ(tokens["tokens"]["splits"][0]["bytes_per_token"], 3.0);
  EXPECT_EQ(tokens["tokens"]["splits"][0]["xxh64"].get<std::string>().size(), 16u);
  EXPECT_EQ(tokens["tokens"]["tokenizer"]["name"], "test");
}

TEST_F(ChainTest, TheJsonListsTheLargestInputsAndReasons) {
  StepReport step;
  step.documents_in = 1000;
  for (int i = 0; i < 105; ++i) step.inputs.push_back({"d" + std::to_string(i), "train", "", 1, i});
  for (int i = 0; i < 203; ++i) step.dropped.push_back({"r" + std::to_string(i), 300 - i, 10, {}});
  const json json_step = json::parse(ChainJson({{step}, false}))["steps"][0];
  ASSERT_EQ(json_step["inputs"].size(), 100u);
  EXPECT_EQ(json_step["inputs"][0]["directory"], "d104");
  EXPECT_EQ(json_step["other_inputs"],
            json({{"directories", 5}, {"files", 5}, {"bytes_on_disk", 0 + 1 + 2 + 3 + 4}}));
  ASSERT_EQ(json_step["run"]["dropped"].size(), 200u);
  EXPECT_EQ(json_step["run"]["other_dropped"],
            json({{"reasons", 3}, {"documents", 100 + 99 + 98}, {"bytes", 30}}));
}

}  // namespace
}  // namespace trainyard::data
