// Bad input to the whole program: one clear line, the documented exit code.
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "tests/trainer/parallel/free_port.h"
#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// Expects the exit code and, on the error line, `part`.
void ExpectFails(const TrainerFolder& folder, const TrainerStart& start, int code,
                 const std::string& part) {
  TrainerProcess trainer(folder, start);
  EXPECT_EQ(trainer.Wait(), code) << trainer.Output();
  EXPECT_NE(trainer.Output().find(part), std::string::npos) << trainer.Output();
}

TEST(TrainerErrorsTest, CommandLine) {
  const TrainerFolder folder;
  ExpectFails(folder, {.flags = {"--frobnicate"}}, 64, "Unknown argument `--frobnicate`");
  ExpectFails(folder, {.flags = {"--config"}}, 64, "--config needs a file");
  ExpectFails(folder, {.variables = {{"TRAINYARD_SPEC", ""}}}, 64, "give --config FILE");
  ExpectFails(folder, {.flags = {"--config", "/no/such.json"}}, 66, "/no/such.json");
  ExpectFails(folder, {.flags = {"--version"}}, 0, "trainyard-trainer ");
  ExpectFails(folder, {.flags = {"--help"}}, 0, "--print-config");
  ExpectFails(folder, {.flags = {"--print-config"}}, 0, "\"hidden_size\": 32");
}

TEST(TrainerErrorsTest, Settings) {
  TrainerFolder folder;
  folder.spec["layout"]["tp"] = 2;
  ExpectFails(folder, {}, 78, "is 2, but there are 1 ranks");
  folder.spec["layout"] = {{"zero", 3}};
  ExpectFails(folder, {}, 78, "layout.zero is 3");
  folder.spec["layout"] = json::object();
  folder.spec["resources"]["device"] = "gpu";
  ExpectFails(folder, {}, 78, "built for CPUs only");
  ExpectFails(folder, {.variables = {{"RANK", "9"}}}, 78, "RANK is 9");
}

TEST(TrainerErrorsTest, MissingData) {
  TrainerFolder folder;
  std::filesystem::remove(folder.path() / "data/val.bin");
  ExpectFails(folder, {}, 66, "val.bin");
  folder.spec["data"]["path"] = "/no/such/data";
  ExpectFails(folder, {}, 66, "/no/such/data");
}

TEST(TrainerErrorsTest, DataOfAnotherVocabulary) {
  TrainerFolder folder;
  folder.WriteTokens("train", std::vector<uint16_t>(1000, 63), 65);
  ExpectFails(folder, {}, 78, "65");
  folder.WriteTokens("train", std::vector<uint16_t>(1000, 77), 64);  // The header lies.
  TrainerProcess trainer(folder, {.run = "lies"});
  EXPECT_EQ(trainer.Wait(), 65);
  EXPECT_NE(trainer.Output().find("77"), std::string::npos) << trainer.Output();
  const auto alerts = trainer.Records("alert");
  ASSERT_EQ(alerts.size(), 1u);
  EXPECT_EQ(alerts[0]["code"], "exit_65");
}

TEST(TrainerErrorsTest, CheckpointOfAnotherModel) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 2;
  TrainToTheEnd(folder, {});
  folder.spec["model"]["ffn_hidden_size"] = 48;
  ExpectFails(folder, {.run = "again", .flags = {"--resume"}}, 78,
              "model.ffn_hidden_size is 48 here and 64 there");
}

TEST(TrainerErrorsTest, NumbersThatOverflow) {
  TrainerFolder folder;
  // Decay of rate times weight_decay = 1000 multiplies the weights by -999 each step.
  folder.spec["optimizer"] = {{"lr", 100}, {"min_lr", 100}, {"weight_decay", 10}};
  folder.spec["schedule"] = {{"kind", "constant"}};
  TrainerProcess trainer(folder, {});
  EXPECT_EQ(trainer.Wait(), 70);
  EXPECT_NE(trainer.Output().find("is not finite"), std::string::npos) << trainer.Output();
  ASSERT_EQ(trainer.Records("alert").size(), 1u);
  EXPECT_EQ(trainer.Records("alert")[0]["code"].get<std::string>().substr(0, 4), "nan_");
  EXPECT_GT(trainer.Records("alert")[0]["step"], 0);
}

TEST(TrainerErrorsTest, OneAlertSpeaksForAGangWhoseNumbersOverflow) {
  TrainerFolder folder;
  folder.spec["optimizer"] = {{"lr", 100}, {"min_lr", 100}, {"weight_decay", 10}};
  folder.spec["schedule"] = {{"kind", "constant"}};
  TrainerStart start{.world_size = 2, .port = FreePort()};
  TrainerProcess first(folder, start);
  start.rank = 1;
  TrainerProcess second(folder, start);
  EXPECT_EQ(first.Wait(), 70) << first.Output();
  second.Wait();
  EXPECT_EQ(first.Records("alert").size(), 1u);
  for (const json& alert : second.Records("alert")) {
    EXPECT_NE(alert["code"].get<std::string>().substr(0, 4), "nan_");
  }
}

TEST(TrainerErrorsTest, DamagedCheckpoint) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 2;
  TrainToTheEnd(folder, {});
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.path().extension() != ".safetensors") continue;
    std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  }
  folder.spec["train"]["steps"] = 4;
  ExpectFails(folder, {.run = "again", .flags = {"--resume"}}, 74, "is damaged");
  ExpectFails(folder, {.run = "none", .variables = {{"TRAINYARD_RESUME_FROM", "/no/such/step"}}},
              74, "/no/such/step is not a checkpoint");
}

TEST(TrainerErrorsTest, LostPeer) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 1000000;
  TrainerStart start{.world_size = 2, .port = FreePort()};
  TrainerProcess first(folder, start);
  start.rank = 1;
  TrainerProcess second(folder, start);
  ASSERT_TRUE(first.WaitForStep(2)) << first.Output();
  second.Signal(SIGKILL);
  EXPECT_EQ(first.Wait(), 69) << first.Output();
  EXPECT_NE(first.Output().find("Lost a peer in all-reduce"), std::string::npos);
  const int64_t last_step = first.Losses().rbegin()->first;
  ASSERT_EQ(first.Records("alert").size(), 1u);
  EXPECT_EQ(first.Records("alert")[0]["step"], last_step) << "not the step that was never done";
  EXPECT_EQ(first.Records("rank").back()["step"], last_step);
  EXPECT_GT(second.Records("rank").size(), 0u) << "every rank tells how it fares";
}

TEST(TrainerErrorsTest, RendezvousPortTaken) {
  const TrainerFolder folder;
  const TakenPort taken;
  ExpectFails(folder, {.world_size = 2, .port = taken.port()}, 75, "is taken by another program");
}

TEST(TrainerErrorsTest, FencedByANewerAttempt) {
  const TrainerFolder folder;
  TrainToTheEnd(folder, {.variables = {{"TRAINYARD_ATTEMPT", "5"}}});
  ExpectFails(folder, {.run = "old", .variables = {{"TRAINYARD_ATTEMPT", "4"}}}, 77, "");
}

}  // namespace
}  // namespace trainyard::trainer
