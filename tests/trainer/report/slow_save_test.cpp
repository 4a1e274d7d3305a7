#include "trainer/report/slow_save.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

TEST(SlowSaveTest, TellsOfASaveThatTakesLongerThanTheGrace) {
  EXPECT_EQ(SlowSaveText({.seconds = 59.9, .bytes = 1}, 60), "");
  EXPECT_EQ(SlowSaveText({.seconds = 1e9}, std::numeric_limits<double>::infinity()), "");
  EXPECT_EQ(
      SlowSaveText({.seconds = 75.24, .bytes = 96'360'000'000}, 60),
      "A checkpoint of 96.4 GB took 75.2 s, but stop_grace allows only 60 s, so stopping the job "
      "would interrupt the checkpoint and lose the steps since the previous one. Set stop_grace to "
      "151s, or use faster storage for checkpoints.");
}

std::vector<json> SlowSaveAlerts(const TrainerProcess& trainer) {
  std::vector<json> alerts = trainer.Records("alert");
  std::erase_if(alerts, [](const json& alert) { return alert["code"] != "checkpoint_too_slow"; });
  return alerts;
}

TEST(SlowSaveTest, TheTrainerTellsItOnceAfterTheFirstSave) {
  TrainerFolder folder;
  folder.spec["stop_grace"] = "0s";
  TrainerProcess trainer(folder, {});
  EXPECT_EQ(trainer.Wait(), 0) << trainer.Output();
  const std::vector<json> alerts = SlowSaveAlerts(trainer);
  ASSERT_EQ(alerts.size(), 1u) << trainer.Output();
  EXPECT_EQ(alerts[0]["step"], trainer.Records("checkpoint").at(0)["step"]);
  EXPECT_NE(trainer.Output().find("Set stop_grace to "), std::string::npos) << trainer.Output();
}

TEST(SlowSaveTest, TheTrainerIsSilentWhereTheGraceIsLongOrUnknown) {
  TrainerFolder folder;
  for (const char* grace : {"3600s", ""}) {
    folder.spec.erase("stop_grace");
    if (*grace != '\0') folder.spec["stop_grace"] = grace;
    TrainerProcess trainer(folder, {.run = std::string("run") + grace});
    EXPECT_EQ(trainer.Wait(), 0) << trainer.Output();
    EXPECT_TRUE(SlowSaveAlerts(trainer).empty()) << trainer.Output();
  }
}

TEST(SlowSaveTest, ALateSaveBlamesTheStorageOnlyWhenAllRanksHaveFilesThere) {
  EXPECT_EQ(LateSaveText("/ckpt", ""),
            "The previous checkpoint is still being written to /ckpt; the next checkpoint starts "
            "after that. Save less often or use faster storage.");
  EXPECT_EQ(
      LateSaveText("/ckpt", "1,3"),
      "The previous checkpoint is still being written to /ckpt; the next checkpoint starts after "
      "that. Files of ranks 1,3 are missing in this directory. Mount the same storage at this path "
      "on "
      "every node.");
}

}  // namespace
}  // namespace trainyard::trainer
