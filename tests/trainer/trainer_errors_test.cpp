// Passes bad input to the complete program. The program must print one clear line and exit with the
// documented code.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "tests/trainer/checkpoint/read_tensor.h"
#include "tests/trainer/parallel/free_port.h"
#include "tests/trainer/trainer_process.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/checkpoint_writer.h"
#include "trainer/checkpoint/fence.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// Expects this exit code, and expects `part` in the error line.
void ExpectFails(const TrainerFolder& folder, const TrainerStart& start, int code,
                 const std::string& part) {
  TrainerProcess trainer(folder, start);
  EXPECT_EQ(trainer.Wait(), code) << trainer.Output();
  EXPECT_NE(trainer.Output().find(part), std::string::npos) << trainer.Output();
}

// True if a complete checkpoint still has its temporary name, because it is not published yet.
bool AwaitsPublication(const std::filesystem::path& checkpoints) {
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints)) {
    const bool is_temporary = entry.path().filename().string().find(".tmp-") != std::string::npos;
    if (is_temporary && std::filesystem::exists(entry.path() / "manifest.json")) return true;
  }
  return false;
}

// Copies a checkpoint and sets one element of a tensor to NaN, with valid checksums.
void SaveWithNan(const std::string& checkpoint, const std::string& tensor,
                 const std::string& directory) {
  std::filesystem::create_directory(directory);
  const CheckpointReader reader(checkpoint);
  std::vector<TensorChunk> chunks;
  for (const auto& [name, _] : reader.tensors()) {
    torch::Tensor whole = ReadWhole(reader, name);
    if (name == tensor) whole.flatten()[0].fill_(std::numeric_limits<float>::quiet_NaN());
    chunks.push_back(WholeTensor(name, whole));
  }
  CheckpointWriterOptions options;
  options.directory = directory;
  options.writer = {{0, 1}};
  options.model_fingerprint = reader.model_fingerprint();
  CheckpointWriter writer(std::move(options));
  writer.Save(reader.step(), reader.trainer_state(), chunks);
  writer.Finish();
}

TEST(TrainerErrorsTest, CommandLine) {
  const TrainerFolder folder;
  ExpectFails(folder, {.flags = {"--frobnicate"}}, 64, "Unknown argument `--frobnicate`");
  ExpectFails(folder, {.flags = {"--config"}}, 64, "--config needs a file");
  ExpectFails(folder, {.variables = {{"TRAINYARD_SPEC", ""}}}, 64, "Pass --config FILE");
  ExpectFails(folder, {.flags = {"--config", "/no/such.json"}}, 66, "/no/such.json");
  ExpectFails(folder, {.flags = {"--version"}}, 0, "trainyard-trainer ");
  ExpectFails(folder, {.flags = {"--help"}}, 0, "--print-config");
  ExpectFails(folder, {.flags = {"--verify-data="}}, 64, "--verify-data needs a directory");
  ExpectFails(folder, {.flags = {"--print-config"}}, 0, "\"hidden_size\": 32");
}

TEST(TrainerErrorsTest, Settings) {
  TrainerFolder folder;
  folder.spec["layout"]["tp"] = 2;
  ExpectFails(folder, {}, 78, "= 2 ranks, but the gang has 1");
  folder.spec["layout"] = {{"vpp", 2}};
  ExpectFails(folder, {}, 78, "`layout.vpp` (2) needs `layout.pp` above 1");
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
  folder.WriteTokens("train", std::vector<uint16_t>(1000, 77), 64);  // A wrong header.
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
  folder.spec["schedule"]["warmup_steps"] = 0;
  TrainToTheEnd(folder, {});
  folder.spec["model"]["ffn_hidden_size"] = 48;
  ExpectFails(folder, {.run = "again", .flags = {"--resume"}}, 78,
              "model.ffn_hidden_size is 48 in this job and 64 in the checkpoint");
}

// The error must name the checkpoint's settings, even those that the run leaves at their defaults.
TEST(TrainerErrorsTest, CheckpointOfAnotherFamily) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 2;
  folder.spec["schedule"]["warmup_steps"] = 0;
  folder.spec["model"]["activation"] = "gelu";
  folder.spec["model"]["add_bias_linear"] = true;
  TrainToTheEnd(folder, {});
  folder.spec["model"].erase("activation");
  ExpectFails(folder, {.run = "again", .flags = {"--resume"}}, 78,
              "another model: model.activation is \"swiglu\" in this job and \"gelu\" in the "
              "checkpoint. Resume");
}

TEST(TrainerErrorsTest, CheckpointWithNumbersThatAreNotFinite) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 2;
  folder.spec["schedule"]["warmup_steps"] = 0;
  TrainToTheEnd(folder, {});
  const auto sound = LatestCheckpoint(folder.path() / "checkpoints");
  ASSERT_TRUE(sound.has_value());
  SaveWithNan(sound->path, "optimizer.exp_avg_sq.model.norm.weight", folder.path() / "bad");
  folder.spec["train"]["steps"] = 4;
  TrainerStart start{.world_size = 2, .port = FreePort(), .run = "again", .checkpoints = "bad"};
  start.flags = {"--resume"};
  TrainerProcess first(folder, start);
  start.rank = 1;
  TrainerProcess second(folder, start);
  EXPECT_EQ(first.Wait(), 74) << first.Output();
  EXPECT_EQ(second.Wait(), 74) << second.Output();
  const std::string both = first.Output() + second.Output();
  EXPECT_NE(both.find("not finite: in optimizer.exp_avg_sq.model.norm.weight"), std::string::npos)
      << both;
}

TEST(TrainerErrorsTest, CheckpointWithAnExpertBiasThatIsNotFinite) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 2;
  folder.spec["schedule"]["warmup_steps"] = 0;
  folder.spec["model"].update({{"num_experts", 4},
                               {"moe_router_topk", 2},
                               {"moe_ffn_hidden_size", 16},
                               {"moe_router_score_function", "sigmoid"},
                               {"moe_router_enable_expert_bias", true}});
  TrainToTheEnd(folder, {});
  const auto sound = LatestCheckpoint(folder.path() / "checkpoints");
  ASSERT_TRUE(sound.has_value());
  const std::string bias = "model.layers.1.mlp.gate.e_score_correction_bias";
  SaveWithNan(sound->path, bias, folder.path() / "bad");
  folder.spec["train"]["steps"] = 4;
  ExpectFails(folder, {.run = "again", .checkpoints = "bad", .flags = {"--resume"}}, 74,
              "not finite: in " + bias);
}

TEST(TrainerErrorsTest, RanksThatWereNotStartedAlike) {
  TrainerFolder folder;
  TrainerStart start{.world_size = 2, .port = FreePort()};
  TrainerProcess first(folder, start);
  folder.spec["optimizer"]["lr"] = 0.5;
  start.rank = 1;
  TrainerProcess second(folder, start);
  EXPECT_EQ(second.Wait(), 78) << second.Output();
  EXPECT_NE(second.Output().find("Rank 1 differs from rank 0: optimizer.lr is 0.5 instead of"),
            std::string::npos)
      << second.Output();
  EXPECT_EQ(second.Records("alert").back()["code"], "exit_78");
  EXPECT_EQ(first.Wait(), 78) << "rank 0 does not wait for the refused rank";
  EXPECT_NE(first.Output().find("Rank 1 differs from rank 0: optimizer.lr is 0.5"),
            std::string::npos)
      << first.Output();
}

TEST(TrainerErrorsTest, NumbersThatOverflow) {
  TrainerFolder folder;
  // Learning rate times weight_decay is 1000, so the decay multiplies the weights by 1 - 1000 =
  // -999 in each step.
  folder.spec["optimizer"] = {{"lr", 100}, {"min_lr", 100}, {"weight_decay", 10}};
  folder.spec["schedule"] = {{"kind", "constant"}};
  TrainerProcess trainer(folder, {.variables = {{"TRAINYARD_SKIP_SAMPLES", "0:24"}}});
  EXPECT_EQ(trainer.Wait(), 76);
  EXPECT_NE(trainer.Output().find("is not finite"), std::string::npos) << trainer.Output();
  ASSERT_EQ(trainer.Records("alert").size(), 1u);
  const json alert = trainer.Records("alert")[0];
  EXPECT_EQ(alert["code"].get<std::string>().substr(0, 4), "nan_");
  ASSERT_GT(alert["step"], 0);
  // The alert advises to skip the samples of the failed step. The positions of these samples follow
  // the samples that are already skipped.
  const int64_t begin = 24 + (alert["step"].get<int64_t>() - 1) * 8;
  const std::string advice =
      "TRAINYARD_SKIP_SAMPLES=" + std::to_string(begin) + ":" + std::to_string(begin + 8) + ".";
  EXPECT_NE(alert["message"].get<std::string>().find(advice), std::string::npos) << alert;
  EXPECT_EQ(alert["samples"], std::to_string(begin) + ":" + std::to_string(begin + 8));
}

TEST(TrainerErrorsTest, OneAlertForAGangWhoseNumbersOverflow) {
  TrainerFolder folder;
  folder.spec["optimizer"] = {{"lr", 100}, {"min_lr", 100}, {"weight_decay", 10}};
  folder.spec["schedule"] = {{"kind", "constant"}};
  TrainerStart start{.world_size = 2, .port = FreePort()};
  TrainerProcess first(folder, start);
  start.rank = 1;
  TrainerProcess second(folder, start);
  EXPECT_EQ(first.Wait(), 76) << first.Output();
  second.Wait();
  // Ignores other alerts, such as checkpoint_late, which may occur on a busy machine.
  const auto count_not_finite = [](const std::vector<json>& alerts) {
    return std::count_if(alerts.begin(), alerts.end(), [](const json& alert) {
      return alert["code"].get<std::string>().starts_with("nan_");
    });
  };
  EXPECT_EQ(count_not_finite(first.Records("alert")), 1) << json(first.Records("alert")).dump();
  EXPECT_EQ(count_not_finite(second.Records("alert")), 0);
}

TEST(TrainerErrorsTest, DamagedCheckpoint) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 2;
  folder.spec["schedule"]["warmup_steps"] = 0;
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

TEST(TrainerErrorsTest, VerifiesACheckpointToTheLastByte) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 2;
  folder.spec["schedule"]["warmup_steps"] = 0;
  TrainToTheEnd(folder, {});
  const std::string checkpoint = folder.path() / "checkpoints/step_000000002";
  const TrainerStart start{.run = "verify", .flags = {"--verify-checkpoint", checkpoint}};
  ExpectFails(folder, start, 0, "is sound: step 2, ");
  std::fstream file(checkpoint + "/rank_00000.safetensors",
                    std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(-1, std::ios::end);
  const int byte = file.get();
  file.seekp(-1, std::ios::end);
  file.put(static_cast<char>(byte ^ 1));
  file.close();
  ExpectFails(folder, start, 74, "does not match");
  ExpectFails(folder, {.run = "none", .flags = {"--verify-checkpoint=/no/such"}}, 74,
              "/no/such is not a checkpoint");
}

TEST(TrainerErrorsTest, VerifiesDataOnlyWhereThereIsAChecksum) {
  const TrainerFolder folder;
  const std::string data = folder.path() / "data";
  ExpectFails(folder, {.run = "a", .flags = {"--verify-data", data}}, 65, "declares none");
  ExpectFails(folder, {.run = "b", .flags = {"--verify-data", "/no/such"}}, 66, "/no/such");
  std::ifstream header(data + "/train.json");
  json text = json::parse(header);
  text["xxh64"] = "0123456789abcdef";
  std::ofstream(data + "/train.json") << text;
  ExpectFails(folder, {.run = "c", .flags = {"--verify-data", data}}, 65, "train.bin");
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

// The gang loses a rank while a checkpoint is being written. The alert must not wait until the
// checkpoint is on disk.
TEST(TrainerErrorsTest, TheAlertDoesNotWaitForTheCheckpointThatIsBeingWritten) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 1000000;
  folder.spec["checkpoint"]["every_steps"] = 0;
  TrainerStart start{.world_size = 2, .port = FreePort()};
  TrainerProcess first(folder, start);
  start.rank = 1;
  TrainerProcess second(folder, start);
  ASSERT_TRUE(first.WaitForStep(2)) << first.Output();
  const std::filesystem::path checkpoints = folder.path() / "checkpoints";
  {
    const FenceLock slow_disk(checkpoints);
    first.Signal(SIGUSR1);
    ASSERT_TRUE(first.WaitFor([&] { return AwaitsPublication(checkpoints); })) << first.Output();
    second.Signal(SIGKILL);
    EXPECT_TRUE(first.WaitForRecord("alert")) << first.Output();
    EXPECT_TRUE(ListCheckpoints(checkpoints).empty());
  }
  EXPECT_EQ(first.Wait(), 69) << first.Output();
  EXPECT_EQ(ListCheckpoints(checkpoints).size(), 1u) << "all of it was written: it counts";
}

TEST(TrainerErrorsTest, RendezvousPortTaken) {
  const TrainerFolder folder;
  const TakenPort taken;
  ExpectFails(folder, {.world_size = 2, .port = taken.port()}, 75, "is in use by another program");
}

TEST(TrainerErrorsTest, FencedByANewerAttempt) {
  const TrainerFolder folder;
  TrainToTheEnd(folder, {.variables = {{"TRAINYARD_ATTEMPT", "5"}}});
  ExpectFails(folder, {.run = "old", .variables = {{"TRAINYARD_ATTEMPT", "4"}}}, 77,
              "attempt 4 is over, because attempt 5 has begun");
}

// Every job starts with attempt 1, so a later job has lower attempt numbers than an earlier job.
// The later job must not be fenced by the earlier numbers.
TEST(TrainerErrorsTest, FencedByALaterJob) {
  const TrainerFolder folder;
  const auto attempt = [](const char* job, const char* number) {
    return std::map<std::string, std::string>{{"TRAINYARD_JOB_ID", job},
                                              {"TRAINYARD_ATTEMPT", number}};
  };
  TrainToTheEnd(folder, {.run = "a", .variables = attempt("7", "5")});
  std::map<std::string, std::string> next = attempt("8", "1");
  next["TRAINYARD_RESUME_FROM"] = LatestCheckpoint(folder.path() / "checkpoints")->path;
  TrainToTheEnd(folder, {.run = "b", .variables = next});
  ExpectFails(folder, {.run = "c", .variables = attempt("7", "6")}, 77,
              "belongs to job 8 (attempt 1)");
}

TEST(TrainerErrorsTest, CheckpointsOfAnotherJobAreNotOverwritten) {
  const TrainerFolder folder;
  const auto job = [](const char* number) {
    return std::map<std::string, std::string>{{"TRAINYARD_JOB_ID", number}};
  };
  TrainToTheEnd(folder, {.run = "a", .variables = job("7")});
  const std::string kept = LatestCheckpoint(folder.path() / "checkpoints")->path;
  ExpectFails(folder, {.run = "b", .variables = job("8")}, 78,
              "Resume from the newest of them (checkpoint.resume_from: " + kept + ")");
  EXPECT_EQ(LatestCheckpoint(folder.path() / "checkpoints")->attempt.job_id, 7);
}

// A symbolic link leads to the directory. The paths differ, so the controller cannot see that both
// jobs write to the same directory.
TEST(TrainerErrorsTest, DirectoryOfALiveJobIsRefusedUnderEveryName) {
  const TrainerFolder folder;
  TrainToTheEnd(folder, {.run = "a", .variables = {{"TRAINYARD_JOB_ID", "7"}}});
  std::filesystem::create_directory_symlink(folder.path() / "checkpoints", folder.path() / "alias");
  ExpectFails(folder,
              {.run = "b",
               .checkpoints = "alias",
               .variables = {{"TRAINYARD_JOB_ID", "8"}, {"TRAINYARD_LIVE_JOBS", "5,7"}}},
              78, "is in use by job 7, which has not ended");
  // The first job can continue, because the rejected job has left no claim on the directory.
  TrainToTheEnd(folder, {.run = "a2",
                         .flags = {"--resume"},
                         .variables = {{"TRAINYARD_JOB_ID", "7"},
                                       {"TRAINYARD_ATTEMPT", "2"},
                                       {"TRAINYARD_LIVE_JOBS", "5,8"}}});
}

}  // namespace
}  // namespace trainyard::trainer
