// Runs the complete program on token files with ids above the vocabulary that the check at the
// start does not find.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <set>

#include "proto/contract/data_config.h"
#include "proto/samples/window_order.h"
#include "tests/trainer/data/foreign_tokens.h"
#include "tests/trainer/parallel/free_port.h"
#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

constexpr int64_t kWindows = 3000;
constexpr int64_t kBadStep = 7;
constexpr int64_t kBatch = 8;

// Windows that the trainer checks at the start, as TrainingSamples spreads them.
std::set<int64_t> WindowsCheckedAtStart() {
  std::set<int64_t> windows;
  for (int64_t i = 0; i < 256; ++i) windows.insert(i * (kWindows - 1) / 255);
  return windows;
}

// Writes training data in which only one sample of step kBadStep has an id above the vocabulary.
void WriteTokensWithALateBadId(TrainerFolder& folder) {
  const auto length = folder.spec["train"]["seq_length"].get<int64_t>();
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i <= kWindows * length; ++i) tokens.push_back(i % 61);
  const std::set<int64_t> checked = WindowsCheckedAtStart();
  int64_t position = (kBadStep - 1) * kBatch;
  const auto window = [&] { return PermuteIndex(DataConfig().seed, 0, kWindows, position); };
  while (checked.contains(window())) ++position;
  ASSERT_LT(position, kBadStep * kBatch);
  // The second token of a window belongs to no other window.
  tokens[static_cast<size_t>(window() * length + 1)] = 60000;
  const std::string path = folder.path() / "late_train.bin";
  std::ofstream(path, std::ios::binary) << LittleEndianBytes(tokens, 2);
  folder.spec["data"] = {{"path", path}, {"format", "nanogpt"}};
  folder.spec["evaluation"] = {{"every_steps", 0}};
  folder.spec["checkpoint"]["every_steps"] = 0;
}

// Expects that every rank ends with 65 and the same message.
std::vector<std::unique_ptr<TrainerProcess>> ExpectEndsAtTheBadStep(const TrainerFolder& folder,
                                                                    TrainerStart start) {
  std::vector<std::unique_ptr<TrainerProcess>> ranks;
  if (start.world_size > 1) start.port = FreePort();
  for (start.rank = 0; start.rank < start.world_size; ++start.rank) {
    ranks.push_back(std::make_unique<TrainerProcess>(folder, start));
  }
  for (const auto& rank : ranks) {
    EXPECT_EQ(rank->Wait(), 65) << rank->Output();
    for (const char* part :
         {"late_train.bin: token id 60000 among tokens", "Step 7 needs these tokens",
          "set TRAINYARD_SKIP_SAMPLES=48:56. The checkpoint of step 6 is saved."}) {
      EXPECT_NE(rank->Output().find(part), std::string::npos) << part << "\n" << rank->Output();
    }
  }
  return ranks;
}

TEST(BadTokensProcessTest, ALateBadIdIsSavedBeforeAndCanBeSkipped) {
  TrainerFolder folder;
  WriteTokensWithALateBadId(folder);
  const std::map<std::string, std::string> skip = {{"TRAINYARD_SKIP_SAMPLES", "48:56"}};
  const Losses whole = TrainToTheEnd(folder, {.run = "a", .checkpoints = "a", .variables = skip});
  const auto ranks = ExpectEndsAtTheBadStep(folder, {.run = "b", .checkpoints = "b"});
  const std::vector<json> alerts = ranks[0]->Records("alert");
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0]["code"], "exit_65");
  EXPECT_EQ(alerts[0]["step"], kBadStep - 1);

  std::map<std::string, std::string> resume = skip;
  resume["TRAINYARD_RESUME_FROM"] = folder.path() / "b/step_000000006";
  const Losses rest = TrainToTheEnd(folder, {.run = "c", .checkpoints = "c", .variables = resume});
  ASSERT_EQ(rest.size(), 14u);
  for (const auto& [step, loss] : rest) EXPECT_EQ(loss, whole.at(step)) << "step " << step;
}

// Only one of the ranks reads the bad sample.
TEST(BadTokensProcessTest, AllRanksOfAGangEndAlike) {
  TrainerFolder folder;
  WriteTokensWithALateBadId(folder);
  folder.spec["layout"]["zero"] = 1;
  const auto ranks = ExpectEndsAtTheBadStep(folder, {.world_size = 2});
  EXPECT_EQ(ranks[0]->Records("alert").size() + ranks[1]->Records("alert").size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "checkpoints/step_000000006/manifest.json"));
}

TEST(BadTokensProcessTest, ASkippedStepOfFp16DoesNotHideBadTokens) {
  TrainerFolder folder;
  WriteTokensWithALateBadId(folder);
  folder.spec["train"]["precision"] = "fp16";
  folder.spec["train"]["initial_loss_scale"] = 1024;
  ExpectEndsAtTheBadStep(folder, {});
}

// The val split changes during the run, as if the check at the start had not reached the bad id.
TEST(BadTokensProcessTest, ABadIdInAnEvaluationSetIsSavedBefore) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 1000000;
  TrainerStart start{.world_size = 2, .port = FreePort()};
  std::vector<std::unique_ptr<TrainerProcess>> ranks;
  for (start.rank = 0; start.rank < start.world_size; ++start.rank) {
    ranks.push_back(std::make_unique<TrainerProcess>(folder, start));
  }
  ASSERT_TRUE(ranks[0]->WaitForStep(11)) << ranks[0]->Output();
  // Token 20 belongs to sample 1, which only the first batch contains.
  std::fstream file(folder.path() / "data/val.bin",
                    std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(20 * 2);
  file << LittleEndianBytes({60000}, 2) << std::flush;
  for (const auto& rank : ranks) {
    EXPECT_EQ(rank->Wait(), 65) << rank->Output();
    const std::string output = rank->Output();
    EXPECT_NE(output.find("val.bin: token id 60000 among tokens"), std::string::npos) << output;
    EXPECT_NE(output.find("The evaluation after step "), std::string::npos) << output;
  }
  const std::string output = ranks[0]->Output();
  const size_t at = output.rfind("The checkpoint of step ");
  ASSERT_NE(at, std::string::npos) << output;
  char name[40];
  std::snprintf(name, sizeof(name), "step_%09d", std::stoi(output.substr(at + 23)));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "checkpoints" / name / "manifest.json"))
      << name;
}

}  // namespace
}  // namespace trainyard::trainer
