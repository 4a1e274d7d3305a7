// Runs the complete program, with checkpoints after evaluations and in evaluation-only mode.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "tests/trainer/parallel/free_port.h"
#include "tests/trainer/trainer_process.h"
#include "trainer/checkpoint/checkpoint_reader.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Steps = std::set<int64_t>;

Steps StepsIn(const std::filesystem::path& checkpoints) {
  Steps steps;
  for (const PublishedCheckpoint& checkpoint : ListCheckpoints(checkpoints)) {
    steps.insert(checkpoint.step);
  }
  return steps;
}

// Returns the losses on an evaluation set, by step.
std::map<int64_t, double> EvaluationLosses(const TrainerProcess& trainer,
                                           const std::string& set = "val") {
  std::map<int64_t, double> losses;
  for (const json& record : trainer.Records("eval")) {
    if (record["data_set"] == set) losses[record["step"]] = record["loss"];
  }
  return losses;
}

// Returns the steps at which the loss is lower than all earlier losses.
Steps Improvements(const std::map<int64_t, double>& losses) {
  Steps steps;
  double best = INFINITY;
  for (const auto& [step, loss] : losses) {
    if (loss < best) steps.insert(step);
    best = std::min(best, loss);
  }
  return steps;
}

// Sets 24 steps with an evaluation after every second step. The learning rate is so high that some
// evaluations have a higher loss than earlier ones.
void EvaluateOften(TrainerFolder& folder) {
  folder.spec["train"]["steps"] = 24;
  folder.spec["optimizer"] = {{"lr", 0.3}, {"min_lr", 0.3}};
  folder.spec["schedule"] = {{"kind", "constant"}};
  folder.spec["evaluation"]["every_steps"] = 2;
  folder.spec["checkpoint"] = {{"every_steps", 0}, {"keep_last", 100}};
}

TEST(EvaluationRunTest, SavesAtEachEvaluationOrWhereItImproved) {
  TrainerFolder folder;
  EvaluateOften(folder);
  folder.spec["checkpoint"]["always_save_checkpoint"] = true;
  TrainerProcess always(folder, {.run = "always", .checkpoints = "always"});
  ASSERT_EQ(always.Wait(), 0) << always.Output();
  const auto losses = EvaluationLosses(always);
  ASSERT_EQ(losses.size(), 12u);
  Steps all;
  for (const auto& [step, loss] : losses) all.insert(step);
  EXPECT_EQ(StepsIn(folder.path() / "always"), all);

  folder.spec["checkpoint"]["always_save_checkpoint"] = false;
  TrainerProcess improved(folder, {.run = "improved", .checkpoints = "improved"});
  ASSERT_EQ(improved.Wait(), 0) << improved.Output();
  EXPECT_EQ(EvaluationLosses(improved), losses) << "saving changes no number";
  Steps expected = Improvements(losses);
  ASSERT_LT(expected.size(), 12u) << "some evaluations must be worse";
  expected.insert(24);  // The last step is always saved.
  EXPECT_EQ(StepsIn(folder.path() / "improved"), expected);
}

TEST(EvaluationRunTest, ARestartedRunKeepsTheBestOfAllAttempts) {
  TrainerFolder folder;
  EvaluateOften(folder);
  folder.spec["checkpoint"]["always_save_checkpoint"] = true;
  TrainerProcess whole(folder, {.run = "whole", .checkpoints = "whole"});
  ASSERT_EQ(whole.Wait(), 0) << whole.Output();
  const auto losses = EvaluationLosses(whole);
  const auto lower = [](const auto& a, const auto& b) { return a.second < b.second; };
  const int64_t best = std::min_element(losses.begin(), losses.end(), lower)->first;

  folder.spec["checkpoint"]["keep_last"] = 1;
  folder.spec["checkpoint"]["keep_best"] = 1;
  for (const int64_t steps : {12, 24}) {
    folder.spec["train"]["steps"] = steps;
    TrainerProcess part(
        folder,
        {.run = "part" + std::to_string(steps), .checkpoints = "parts", .flags = {"--resume"}});
    ASSERT_EQ(part.Wait(), 0) << part.Output();
    for (const json& record : part.Records("checkpoint")) {
      if (record.contains("deleted")) continue;
      EXPECT_EQ(record["metric"], "val_loss");
      EXPECT_EQ(record["metric_value"], losses.at(record["step"]));
    }
  }
  // The second part begins at step 12.
  EXPECT_EQ(StepsIn(folder.path() / "parts"), (Steps{12, best, 24}));
  EXPECT_GT(best, 12) << "else the test shows nothing";
}

// For every layout, an evaluation-only run of a checkpoint must report the same loss as the run
// that saved the checkpoint.
TEST(EvaluationRunTest, EvaluatesWhatTheRunHasEvaluated) {
  TrainerFolder folder;
  folder.spec["evaluation"]["sets"] = {"val " + (folder.path() / "data").string(),
                                       "again " + (folder.path() / "data").string()};
  TrainerProcess trained(folder, {.run = "trained"});
  ASSERT_EQ(trained.Wait(), 0) << trained.Output();
  const double loss = EvaluationLosses(trained).at(10);
  const auto before = StepsIn(folder.path() / "checkpoints");

  folder.spec["evaluation"]["only"] = true;
  folder.spec["checkpoint"]["resume_from"] = folder.path() / "checkpoints/step_000000010";
  folder.spec["data"].erase("path");
  TrainerProcess alone(folder, {.run = "alone", .checkpoints = "untouched"});
  ASSERT_EQ(alone.Wait(), 0) << alone.Output();
  EXPECT_EQ(EvaluationLosses(alone), (std::map<int64_t, double>{{10, loss}})) << "equal bits";
  EXPECT_EQ(EvaluationLosses(alone, "again").at(10), loss);
  EXPECT_TRUE(alone.Records("metrics").empty()) << "no step was trained";
  EXPECT_TRUE(alone.Records("checkpoint").empty());
  EXPECT_EQ(alone.Records("phase").back()["phase"], "done");
  EXPECT_NE(alone.Output().find("evaluation only, from "), std::string::npos) << alone.Output();
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "untouched"));
  EXPECT_EQ(StepsIn(folder.path() / "checkpoints"), before);

  for (const json& layout :
       {json{{"tp", 2}}, json{{"pp", 2}}, json{{"cp", 2}}, json{{"zero", 3}}}) {
    folder.spec["layout"] = layout;
    folder.spec["layout"]["micro_batch"] = 4;
    const std::string name = "split_" + layout.items().begin().key();
    TrainerStart start{
        .world_size = 2, .port = FreePort(), .run = name, .checkpoints = "untouched"};
    TrainerProcess first(folder, start);
    start.rank = 1;
    EXPECT_EQ(TrainerProcess(folder, start).Wait(), 0) << layout;
    ASSERT_EQ(first.Wait(), 0) << first.Output();
    EXPECT_NEAR(EvaluationLosses(first).at(10), loss, 1e-6 * loss) << layout;
  }
}

TEST(EvaluationRunTest, TakesTheNewestOfTheDirectory) {
  TrainerFolder folder;
  TrainToTheEnd(folder, {.run = "trained"});
  folder.spec["evaluation"]["only"] = true;
  folder.spec["checkpoint"]["dir"] = folder.path() / "checkpoints";
  TrainerProcess newest(folder, {.run = "newest"});
  ASSERT_EQ(newest.Wait(), 0) << newest.Output();
  EXPECT_EQ(EvaluationLosses(newest).begin()->first, 20);
}

TEST(EvaluationRunTest, RefusesWhatCannotBeEvaluated) {
  TrainerFolder folder;
  const auto expect_fails = [&](int code, const std::string& part) {
    static int runs = 0;
    TrainerProcess trainer(folder, {.run = "failing" + std::to_string(++runs)});
    EXPECT_EQ(trainer.Wait(), code) << trainer.Output();
    EXPECT_NE(trainer.Output().find(part), std::string::npos) << trainer.Output();
  };
  folder.spec["evaluation"]["only"] = true;
  expect_fails(78, "`evaluation.only` needs weights; name a checkpoint");
  folder.spec["checkpoint"]["dir"] = folder.path() / "none";
  expect_fails(66, "evaluation.only is set, but there is no checkpoint in ");
  folder.spec["checkpoint"]["resume_from"] = folder.path() / "none/step_000000010";
  expect_fails(74, "is not a checkpoint");
  folder.spec["data"].erase("path");
  expect_fails(78, "`data.path` is missing");
  folder.spec["data"]["path"] = folder.path() / "data";
  std::filesystem::remove(folder.path() / "data/val.bin");
  expect_fails(66, "val.bin");
}

// An evaluation set is first used long after the start, but an error in the set must be reported at
// the start.
TEST(EvaluationRunTest, RefusesSetsOfAnotherTokenizerAndTokensOutsideOfTheVocabulary) {
  TrainerFolder folder;
  const auto expect_fails = [&](int code, const std::string& part) {
    static int runs = 0;
    TrainerProcess trainer(folder, {.run = "set" + std::to_string(++runs)});
    EXPECT_EQ(trainer.Wait(), code) << trainer.Output();
    EXPECT_NE(trainer.Output().find(part), std::string::npos) << trainer.Output();
    EXPECT_TRUE(trainer.Records("metrics").empty()) << "before the first step";
  };
  const std::filesystem::path other = folder.path() / "other";
  std::filesystem::create_directory(other);
  for (const char* name : {"train.bin", "train.json", "val.bin", "val.json"}) {
    std::filesystem::copy_file(folder.path() / "data" / name, other / name);
  }
  std::ofstream(folder.path() / "data/tokenizer.json") << R"({"kind": "byte", "vocab_size": 64})";
  std::ofstream(other / "tokenizer.json") << R"({"kind": "unigram", "vocab_size": 60})";
  folder.spec["evaluation"]["sets"] = {"code " + other.string()};
  expect_fails(78, "(unigram of 60 ids) than ");
  folder.spec["evaluation"]["sets"] = {"val " + (folder.path() / "data").string(),
                                       "code " + other.string()};
  expect_fails(78, "(byte of 64 ids); ");
  folder.spec["evaluation"].erase("sets");
  folder.spec["data"] = {
      {"blend", {"1 " + (folder.path() / "data").string(), "1 " + other.string()}}};
  expect_fails(78, "was prepared with another tokenizer (unigram of 60 ids)");

  folder.spec["data"] = {{"path", (folder.path() / "data").string()}, {"format", "nanogpt"}};
  std::ofstream(folder.path() / "data/val.bin", std::ios::binary) << std::string(1000, '\x41');
  expect_fails(65, "token id 16705 among tokens 0 to 16 is outside the model's vocabulary of 64");
}

}  // namespace
}  // namespace trainyard::trainer
