// Runs the complete program with windows, documents and different attention backends.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

void ExpectRefused(const TrainerFolder& folder, int code, const std::string& part) {
  static int runs = 0;
  TrainerProcess trainer(folder, {.run = "refused" + std::to_string(++runs)});
  EXPECT_EQ(trainer.Wait(), code) << trainer.Output();
  EXPECT_NE(trainer.Output().find(part), std::string::npos) << trainer.Output();
}

void Pack(TrainerFolder& folder) {
  folder.spec["data"]["reset_attention_mask"] = true;
  folder.spec["data"]["reset_position_ids"] = true;
  folder.spec["data"]["eod_mask_loss"] = true;
}

TEST(AttentionSettingsProcessTest, TheHeaderAndTelemetryNameTheBackend) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 3;
  folder.spec["schedule"]["warmup_steps"] = 0;
  folder.spec["model"]["window_size"] = 5;
  TrainerProcess trainer(folder, {});
  ASSERT_EQ(trainer.Wait(), 0) << trainer.Output();
  EXPECT_NE(trainer.Output().find("attention by manual, window of 5 tokens\n"), std::string::npos)
      << trainer.Output();
  const std::vector<json> metrics = trainer.Records("metrics");
  ASSERT_EQ(metrics.size(), 3U);
  EXPECT_EQ(metrics[0]["attention_backend"], 5.0);
  EXPECT_FALSE(metrics[1].contains("attention_backend"));
}

TEST(AttentionSettingsProcessTest, ABackendThatTheDeviceLacksIsRefused) {
  TrainerFolder folder;
  for (const char* backend : {"cudnn", "flash", "sdpa"}) {
    folder.spec["train"]["attention_backend"] = backend;
    ExpectRefused(folder, 78,
                  "`train.attention_backend` " + std::string(backend) +
                      " is for GPUs (`resources.device` is cpu); set it to auto or manual");
  }
  folder.spec["train"]["attention_backend"] = "fused";
  ExpectRefused(folder, 78, "must be one of: auto, cudnn, flash, sdpa, manual");
}

// The attention backend is not part of the model, so a checkpoint can be resumed with another
// backend. The window is part of the model.
TEST(AttentionSettingsProcessTest, ACheckpointGoesOnWithAnotherBackendButNotAnotherWindow) {
  TrainerFolder folder;
  folder.spec["model"]["window_size"] = 5;
  const Losses whole = TrainToTheEnd(folder, {});
  folder.spec["train"]["attention_backend"] = "manual";
  const std::map<std::string, std::string> resume = {
      {"TRAINYARD_RESUME_FROM", folder.path() / "checkpoints/step_000000015"}};
  const Losses resumed =
      TrainToTheEnd(folder, {.run = "b", .checkpoints = "b", .variables = resume});
  ASSERT_EQ(resumed.size(), 5U);
  for (const auto& [step, loss] : resumed) EXPECT_EQ(loss, whole.at(step)) << "step " << step;
  folder.spec["model"]["window_size"] = 6;
  TrainerProcess other(folder, {.run = "c", .checkpoints = "c", .variables = resume});
  EXPECT_EQ(other.Wait(), 78);
  EXPECT_NE(other.Output().find("model.window_size is 6 in this job and 5 in the checkpoint"),
            std::string::npos)
      << other.Output();
}

// Token 0 of these token files marks the end of a document.
TEST(AttentionSettingsProcessTest, PackedRunsDoNotDependOnTheLayout) {
  TrainerFolder folder;
  const Losses plain = TrainToTheEnd(folder, {.run = "plain", .checkpoints = "plain"});
  Pack(folder);
  TrainerProcess one(folder, {.run = "one", .checkpoints = "one"});
  ASSERT_EQ(one.Wait(), 0) << one.Output();
  EXPECT_NE(one.Output().find("attention by manual; documents end with token 0: attention within "
                              "documents, positions restart in each document, no loss after the "
                              "end token\n"),
            std::string::npos)
      << one.Output();
  const Losses alone = one.Losses();
  EXPECT_GT(std::abs(alone.at(1) - plain.at(1)), 1e-6) << "documents must matter";
  const auto expect_same = [&](const char* run, const json& layout) {
    SCOPED_TRACE(run);
    folder.spec["layout"].update(layout);
    const Losses two = TrainToTheEnd(folder, {.world_size = 2, .run = run, .checkpoints = run});
    for (const auto& [step, loss] : two) EXPECT_NEAR(loss, alone.at(step), 1e-4 * loss);
    const auto evaluations = [&](const std::string& of) {
      return TelemetryRecords(folder.path() / (of + "_rank0"), "eval");
    };
    ASSERT_EQ(evaluations(run).size(), evaluations("one").size());
    EXPECT_EQ(evaluations(run)[0]["tokens"], evaluations("one")[0]["tokens"]);
    EXPECT_NEAR(evaluations(run)[0]["loss"].get<double>(),
                evaluations("one")[0]["loss"].get<double>(), 1e-4);
  };
  expect_same("dp", json::object());
  expect_same("cp", {{"cp", 2}});
}

TEST(AttentionSettingsProcessTest, DocumentsNeedATokenOfTheVocabulary) {
  TrainerFolder folder;
  folder.spec["data"]["eod_token"] = 3;
  ExpectRefused(folder, 78, "`data.eod_token` (3) has no effect without");
  Pack(folder);
  folder.spec["data"]["eod_token"] = 64;
  ExpectRefused(folder, 78, "`data.eod_token` (64) must be below `model.vocab_size` (64)");
  folder.spec["data"].erase("eod_token");
  folder.spec["data"]["format"] = "nanogpt";
  ExpectRefused(folder, 78, "does not name an end-of-document token");
}

}  // namespace
}  // namespace trainyard::trainer
