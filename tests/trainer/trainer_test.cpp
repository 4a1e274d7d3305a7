// Runs the complete program. The losses must be equal however the batch is split among ranks. Other
// tests cover resuming and signals.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "tests/trainer/parallel/free_port.h"
#include "tests/trainer/trainer_process.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/fence.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

// Expects equal losses. The relative difference may be up to `first` at step 1 and up to `last` at
// the last step.
void ExpectNear(const Losses& actual, const Losses& expected, double first, double last) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [step, loss] : expected) {
    EXPECT_NEAR(actual.at(step), loss, loss * (step == 1 ? first : last)) << "step " << step;
  }
}

constexpr int64_t kForEver = 1000000;

void ExpectSameBits(const Losses& part, const Losses& whole) {
  ASSERT_FALSE(part.empty());
  for (const auto& [step, loss] : part) {
    ASSERT_TRUE(whole.contains(step)) << "step " << step;
    EXPECT_EQ(loss, whole.at(step)) << "step " << step;
  }
}

std::map<std::string, std::string> JobVariables(int64_t job_id, int64_t attempt) {
  return {{"TRAINYARD_JOB_ID", std::to_string(job_id)},
          {"TRAINYARD_ATTEMPT", std::to_string(attempt)}};
}

// Trains with two ranks and kills them once their fourth checkpoint exists.
void KillBetweenCheckpoints(const TrainerFolder& folder, TrainerStart start) {
  start.world_size = 2;
  start.port = FreePort();
  TrainerProcess first(folder, start);
  start.rank = 1;
  TrainerProcess second(folder, start);
  ASSERT_TRUE(first.WaitForRecord("checkpoint", [](const json& record) {
    return record["step"] >= 20 && !record.contains("deleted");
  })) << first.Output();
  first.Signal(SIGKILL);
  second.Signal(SIGKILL);
  EXPECT_EQ(first.Wait(), 128 + SIGKILL);
}

// Trains with two ranks. Asks them to stop when `step` is reached and at least 8 steps are
// complete. Returns the losses of all steps.
Losses TrainUntil(const TrainerFolder& folder, TrainerStart start, int64_t step) {
  start.world_size = 2;
  start.port = FreePort();
  TrainerProcess first(folder, start);
  start.rank = 1;
  TrainerProcess second(folder, start);
  const auto is_far_enough = [&](const json& record) {
    return record["step"] >= step && first.Losses().size() >= 8;
  };
  EXPECT_TRUE(first.WaitForRecord("metrics", is_far_enough)) << first.Output();
  first.Signal(SIGTERM);
  EXPECT_EQ(first.Wait(), 143) << first.Output();
  EXPECT_EQ(second.Wait(), 143) << second.Output();
  return first.Losses();
}

TEST(TrainerTest, LearnsEvaluatesAndSaves) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 60;
  TrainerProcess trainer(folder, {});
  ASSERT_EQ(trainer.Wait(), 0) << trainer.Output();
  const Losses losses = trainer.Losses();
  ASSERT_EQ(losses.size(), 60u);
  EXPECT_NEAR(losses.at(1), 4.16, 0.1);  // log(64)
  EXPECT_LT(losses.at(60), 0.8 * losses.at(1));

  const json metrics = trainer.Records("metrics").back();
  EXPECT_EQ(metrics["total_steps"], 60);
  EXPECT_EQ(metrics["tokens"], 60 * 8 * 16);
  for (const char* key : {"grad_norm", "lr", "step_seconds", "tokens_per_second", "memory_bytes"}) {
    EXPECT_GT(metrics[key].get<double>(), 0) << key;
  }
  EXPECT_FALSE(metrics.contains("mfu"));  // A CPU's peak FLOP/s are unknown.

  const auto evaluations = trainer.Records("eval");
  ASSERT_EQ(evaluations.size(), 6u);
  EXPECT_LT(evaluations[5]["loss"].get<double>(), evaluations[0]["loss"].get<double>());
  EXPECT_EQ(evaluations[5]["tokens"], 12 * 16);
  const auto phases = trainer.Records("phase");
  EXPECT_EQ(phases.front()["phase"], "init");
  EXPECT_EQ(phases.back()["phase"], "done");

  EXPECT_TRUE(std::filesystem::exists(folder.path() / "checkpoints/step_000000060/manifest.json"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "checkpoints/step_000000005"));
  EXPECT_NE(trainer.Output().find("done at step 60"), std::string::npos);
}

TEST(TrainerTest, TwoRanksEqualOne) {
  TrainerFolder folder;
  const Losses one = TrainToTheEnd(folder, {.run = "one", .checkpoints = "a"});
  const Losses two = TrainToTheEnd(folder, {.world_size = 2, .run = "two", .checkpoints = "b"});
  ExpectNear(two, one, 1e-6, 1e-5);
}

TEST(TrainerTest, EvaluationDoesNotDependOnTheNumberOfRanks) {
  TrainerFolder folder;
  folder.spec["optimizer"] = {{"lr", 0}, {"min_lr", 0}};
  folder.spec["train"]["steps"] = 1;
  folder.spec["schedule"]["warmup_steps"] = 0;
  folder.spec["layout"]["micro_batch"] = 2;
  std::vector<double> losses;
  for (const int64_t size : {1, 2}) {
    TrainerStart start{.world_size = size,
                       .port = FreePort(),
                       .run = "size" + std::to_string(size),
                       .checkpoints = "c" + std::to_string(size)};
    TrainerProcess first(folder, start);
    start.rank = 1;
    if (size == 2) {
      EXPECT_EQ(TrainerProcess(folder, start).Wait(), 0);
    }
    ASSERT_EQ(first.Wait(), 0) << first.Output();
    losses.push_back(first.Records("eval").at(0)["loss"]);
  }
  EXPECT_EQ(losses[0], losses[1]);
}

TEST(TrainerTest, AccumulationEqualsALargeBatch) {
  TrainerFolder folder;
  folder.spec["layout"]["micro_batch"] = 8;
  const Losses large = TrainToTheEnd(folder, {.run = "large", .checkpoints = "a"});
  folder.spec["layout"]["micro_batch"] = 2;
  const Losses small = TrainToTheEnd(folder, {.run = "small", .checkpoints = "b"});
  ExpectNear(small, large, 1e-6, 1e-5);
}

TEST(TrainerTest, RecomputationChangesNoBit) {
  TrainerFolder folder;
  const Losses kept = TrainToTheEnd(folder, {.run = "kept", .checkpoints = "a"});
  folder.spec["layout"]["recompute"] = "full";
  EXPECT_EQ(TrainToTheEnd(folder, {.run = "recomputed", .checkpoints = "b"}), kept);
}

// Two ranks are killed without warning and restarted from their last checkpoint.
TEST(TrainerTest, ResumeAfterKillEqualsAnUndisturbedRunBitForBit) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = kForEver;
  KillBetweenCheckpoints(folder, {.run = "a", .checkpoints = "a"});
  const Losses resumed =
      TrainUntil(folder, {.run = "b", .checkpoints = "a", .flags = {"--resume"}}, 0);
  ASSERT_FALSE(resumed.empty());
  EXPECT_GT(resumed.begin()->first, 1);
  ExpectSameBits(resumed,
                 TrainUntil(folder, {.run = "c", .checkpoints = "c"}, resumed.rbegin()->first));
}

// The gang continued while the controller was down. In that time, retention deleted the checkpoint
// that the controller names.
TEST(TrainerTest, StartsFromTheNewestOfItsJobWhenTheOneThatIsNamedIsRetired) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = kForEver;
  folder.spec["checkpoint"]["keep_last"] = 2;
  KillBetweenCheckpoints(folder, {.run = "a", .checkpoints = "a", .variables = JobVariables(7, 1)});
  const auto kept = ListCheckpoints(folder.path() / "a");
  ASSERT_FALSE(kept.empty());
  const std::string named = folder.path() / "a/step_000000005";
  ASSERT_FALSE(std::filesystem::exists(named));

  TrainerStart start{.run = "b", .checkpoints = "a", .variables = JobVariables(7, 2)};
  start.variables["TRAINYARD_RESUME_FROM"] = named;
  const Losses resumed = TrainUntil(folder, start, 0);
  ASSERT_FALSE(resumed.empty());
  EXPECT_EQ(resumed.begin()->first, kept.back().step + 1);
  ExpectSameBits(resumed,
                 TrainUntil(folder, {.run = "c", .checkpoints = "c"}, resumed.rbegin()->first));
  // The new attempt reports checkpoints that the controller does not know. Each report has the
  // number of the attempt that published the checkpoint.
  const auto told = TelemetryRecords(folder.path() / "b_rank0", "checkpoint");
  ASSERT_GE(told.size(), kept.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(told[i]["step"], kept[i].step);
    EXPECT_EQ(told[i]["attempt"], 1);
    EXPECT_EQ(told[i]["path"], kept[i].path);
    EXPECT_EQ(told[i]["bytes"], kept[i].bytes);
  }
}

// One rank resumes from a checkpoint that two ranks saved.
TEST(TrainerTest, ResumesOnAnotherNumberOfRanks) {
  TrainerFolder folder;
  const Losses whole = TrainToTheEnd(folder, {.run = "a", .checkpoints = "a"});
  folder.spec["checkpoint"]["keep_last"] = 10;
  TrainToTheEnd(folder, {.world_size = 2, .run = "b", .checkpoints = "b"});
  const std::string from = folder.path() / "b/step_000000010";
  const Losses resumed = TrainToTheEnd(
      folder, {.run = "c", .checkpoints = "c", .variables = {{"TRAINYARD_RESUME_FROM", from}}});
  ASSERT_EQ(resumed.size(), 10u);
  for (const auto& [step, loss] : resumed) EXPECT_NEAR(loss, whole.at(step), 1e-5 * loss);
}

// Returns the files of a checkpoint that contain elements of this tensor.
std::set<std::string> FilesWith(const std::filesystem::path& checkpoint, const std::string& name) {
  std::ifstream file(checkpoint / "manifest.json");
  const json manifest = json::parse(file);
  std::set<std::string> files;
  for (const json& tensor : manifest.at("tensors")) {
    if (tensor.at("name") != name) continue;
    for (const json& chunk : tensor.at("chunks")) files.insert(chunk.at("file"));
  }
  return files;
}

// Each of the two ranks owns half of the optimizer's state.
TEST(TrainerTest, ShardedStateChangesNoBit) {
  TrainerFolder folder;
  const Losses whole = TrainToTheEnd(folder, {.world_size = 2, .run = "a", .checkpoints = "a"});
  folder.spec["layout"]["zero"] = 1;
  EXPECT_EQ(TrainToTheEnd(folder, {.world_size = 2, .run = "b", .checkpoints = "b"}), whole);
  const std::string moment = "optimizer.exp_avg.model.embed_tokens.weight";
  for (const char* run : {"a", "b"}) {
    const std::string newest = ListCheckpoints(folder.path() / run).back().path;
    EXPECT_EQ(FilesWith(newest, moment).size(), 2u) << "each rank has saved its half";
  }
}

TEST(TrainerTest, ShardedStateGoesOnWithAnyNumberOfOwners) {
  TrainerFolder folder;
  folder.spec["checkpoint"]["keep_last"] = 10;
  const auto resume = [&](int64_t zero, int64_t size, const std::string& from,
                          const std::string& run) {
    folder.spec["layout"]["zero"] = zero;
    return TrainToTheEnd(folder, {.world_size = size,
                                  .run = run,
                                  .checkpoints = run,
                                  .variables = {{"TRAINYARD_RESUME_FROM", folder.path() / from}}});
  };
  folder.spec["layout"]["zero"] = 1;
  const Losses whole = TrainToTheEnd(folder, {.world_size = 2, .run = "a", .checkpoints = "a"});
  // With the same number of owners, the bits must be the same. The number of files in the
  // checkpoint must not matter.
  const Losses one = resume(0, 1, "a/step_000000005", "one");
  const Losses again = resume(1, 2, "one/step_000000010", "again");
  ASSERT_EQ(again.size(), 10u);
  for (const auto& [step, loss] : again) EXPECT_NEAR(loss, whole.at(step), 1e-5 * loss);
  ExpectSameBits(resume(1, 2, "a/step_000000010", "same"), whole);
}

TEST(TrainerTest, SigtermSavesAndLeavesWith143) {
  TrainerFolder folder;
  folder.spec["checkpoint"]["every_steps"] = 0;
  folder.spec["train"]["steps"] = kForEver;
  TrainerStart start{.world_size = 2, .port = FreePort(), .run = "b", .checkpoints = "b"};
  TrainerProcess first(folder, start);
  start.rank = 1;
  TrainerProcess second(folder, start);
  ASSERT_TRUE(first.WaitForStep(3)) << first.Output();
  second.Signal(SIGTERM);  // Only this rank gets the signal. Both must save and exit.
  EXPECT_EQ(first.Wait(), 143) << first.Output();
  EXPECT_EQ(second.Wait(), 143) << second.Output();
  const auto saved = first.Records("checkpoint");
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0]["step"], first.Losses().rbegin()->first);
  EXPECT_TRUE(std::filesystem::exists(saved[0]["path"].get<std::string>() + "/manifest.json"));
}

// An evaluation may take longer than the grace period. Therefore the trainer must interrupt it and
// save. Otherwise the steps since the last save would be lost.
TEST(TrainerTest, SigtermCutsAnEvaluationShort) {
  TrainerFolder folder;
  folder.WriteTokens("val", std::vector<uint16_t>(2000000, 1), 64);
  folder.spec["evaluation"] = {{"every_steps", 3}, {"samples", 100000}};
  folder.spec["checkpoint"]["every_steps"] = 0;
  folder.spec["layout"]["micro_batch"] = 1;
  TrainerStart start{.world_size = 2, .port = FreePort()};
  TrainerProcess first(folder, start);
  start.rank = 1;
  TrainerProcess second(folder, start);
  const auto evaluates = [](const json& record) { return record["phase"] == "eval"; };
  ASSERT_TRUE(second.WaitForRecord("phase", evaluates)) << second.Output();
  second.Signal(SIGTERM);
  EXPECT_EQ(first.Wait(), 143) << first.Output();
  EXPECT_EQ(second.Wait(), 143) << second.Output();
  EXPECT_TRUE(first.Records("eval").empty()) << "cut short";
  const auto saved = first.Records("checkpoint");
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0]["step"], 3);
}

TEST(TrainerTest, SigtermBeforeTheFirstStepLeavesAtOnce) {
  TrainerFolder folder;
  TrainerProcess waiting(folder, {.world_size = 2, .port = FreePort()});  // No peer connects.
  ASSERT_TRUE(waiting.WaitForRecord("phase"));
  waiting.Signal(SIGUSR1);
  waiting.Signal(SIGTERM);
  EXPECT_EQ(waiting.Wait(), 143) << waiting.Output();
}

TEST(TrainerTest, Sigusr1SavesAndGoesOn) {
  TrainerFolder folder;
  folder.spec["checkpoint"]["every_steps"] = 0;
  folder.spec["train"]["steps"] = kForEver;
  TrainerProcess trainer(folder, {});
  ASSERT_TRUE(trainer.WaitForStep(2)) << trainer.Output();
  trainer.Signal(SIGUSR1);
  while (trainer.Records("checkpoint").empty()) {
    ASSERT_TRUE(trainer.WaitForStep(trainer.Losses().rbegin()->first + 1)) << trainer.Output();
  }
  trainer.Signal(SIGTERM);
  EXPECT_EQ(trainer.Wait(), 143) << trainer.Output();
  EXPECT_EQ(trainer.Records("checkpoint").size(), 2u);
}

// Simulates a slow disk by blocking the first save before it publishes. Training must continue
// until the next save is due. The time for which training then waits is measured.
TEST(TrainerTest, TrainsOnWhileACheckpointIsHeldUp) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = kForEver;
  TrainerProcess trainer(folder, {});
  ASSERT_TRUE(trainer.WaitForRecord("checkpoint")) << trainer.Output();
  std::optional<FenceLock> slow_disk;
  slow_disk.emplace(folder.path() / "checkpoints");
  const auto is_late = [](const json& record) { return record["code"] == "checkpoint_late"; };
  ASSERT_TRUE(trainer.WaitForRecord("alert", is_late)) << trainer.Output();
  const int64_t due = trainer.Records("alert").at(0)["step"];
  ASSERT_TRUE(trainer.WaitForStep(due + 20)) << trainer.Output();
  EXPECT_LT(trainer.Records("checkpoint").back()["step"], due);
  slow_disk.reset();

  const auto follows = [due](const json& record) {
    return record["step"] > due && !record.contains("deleted");
  };
  ASSERT_TRUE(trainer.WaitForRecord("checkpoint", follows)) << trainer.Output();
  const auto records = trainer.Records("checkpoint");
  const json late = *std::find_if(records.begin(), records.end(), follows);
  EXPECT_GE(late["step"], due + 20);  // The save may follow the record of this step.
  constexpr double kTimeoutSeconds = 2;
  EXPECT_GE(late["blocking_seconds"], kTimeoutSeconds);
  EXPECT_GE(trainer.Records("rank").back()["checkpoint_seconds"], kTimeoutSeconds);
  trainer.Signal(SIGTERM);
  EXPECT_EQ(trainer.Wait(), 143) << trainer.Output();
}

TEST(TrainerTest, SkippedSamplesAreNeverTrainedOn) {
  TrainerFolder folder;
  folder.spec["optimizer"] = {{"lr", 0}, {"min_lr", 0}};  // Losses then identify samples.
  const Losses all = TrainToTheEnd(folder, {.run = "a", .checkpoints = "a"});
  const Losses skipped = TrainToTheEnd(
      folder, {.run = "b", .checkpoints = "b", .variables = {{"TRAINYARD_SKIP_SAMPLES", "8:24"}}});
  EXPECT_EQ(skipped.at(1), all.at(1));
  EXPECT_EQ(skipped.at(2), all.at(4));
  EXPECT_EQ(skipped.at(3), all.at(5));
  EXPECT_NE(all.at(2), all.at(4));
  // Metrics contain the positions of their samples, which a controller needs to skip these samples.
  const auto records = TelemetryRecords(folder.path() / "b_rank0", "metrics");
  EXPECT_EQ(records.at(0)["samples"], "0:8");
  EXPECT_EQ(records.at(1)["samples"], "24:32");
}

TEST(TrainerTest, RecordsTellTheSamplesOfAllStepsSinceTheRecordBefore) {
  TrainerFolder folder;
  folder.spec["train"]["log_every_steps"] = 3;
  TrainToTheEnd(folder, {});
  const auto records = TelemetryRecords(folder.path() / "run_rank0", "metrics");
  EXPECT_EQ(records.at(0)["samples"], "0:24");
  EXPECT_EQ(records.at(1)["samples"], "24:48");
}

TEST(TrainerTest, TheFactorMultipliesTheLearningRate) {
  TrainerFolder folder;
  TrainToTheEnd(folder, {.run = "a", .checkpoints = "a"});
  TrainToTheEnd(folder,
                {.run = "b", .checkpoints = "b", .variables = {{"TRAINYARD_LR_FACTOR", "0.25"}}});
  const auto whole = TelemetryRecords(folder.path() / "a_rank0", "metrics");
  const auto quarter = TelemetryRecords(folder.path() / "b_rank0", "metrics");
  ASSERT_EQ(whole.size(), quarter.size());
  EXPECT_EQ(quarter.back()["lr"], 0.25 * whole.back()["lr"].get<double>());
  EXPECT_EQ(quarter.front()["loss"], whole.front()["loss"]);
  EXPECT_NE(quarter.back()["loss"], whole.back()["loss"]);
}

// A run that skips samples 8 to 23 stops after 40 samples, which were at positions 0 to 7 and 24 to
// 55. The run then resumes with another list of skipped samples.
class SkipAgainTest : public testing::Test {
 protected:
  SkipAgainTest() {
    folder_.spec["optimizer"] = {{"lr", 0}, {"min_lr", 0}};  // Losses then identify samples.
    folder_.spec["evaluation"]["every_steps"] = 0;
    all_ = TrainToTheEnd(folder_, {.run = "a", .checkpoints = "a"});
    folder_.spec["train"]["steps"] = 5;
    TrainToTheEnd(
        folder_,
        {.run = "b", .checkpoints = "b", .variables = {{"TRAINYARD_SKIP_SAMPLES", "8:24"}}});
    folder_.spec["train"]["steps"] = 9;
  }

  // Resumes with the list `skip` and returns the losses of steps 6 to 9.
  Losses GoOn(const std::string& skip) {
    return TrainToTheEnd(folder_, {.run = "c",
                                   .checkpoints = "b",
                                   .flags = {"--resume"},
                                   .variables = {{"TRAINYARD_SKIP_SAMPLES", skip}}});
  }
  std::string Output() const {
    std::ifstream file(folder_.path() / "c_rank0" / "out.log");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  TrainerFolder folder_;
  Losses all_;
};

TEST_F(SkipAgainTest, WithTheSameList) {
  const Losses losses = GoOn("8:24");
  EXPECT_EQ(losses.at(6), all_.at(8));
  EXPECT_EQ(losses.at(9), all_.at(11));
  EXPECT_EQ(Output().find("TRAINYARD_SKIP_SAMPLES"), std::string::npos) << Output();
}

TEST_F(SkipAgainTest, WithoutAList) {
  const Losses losses = GoOn("");
  EXPECT_EQ(losses.at(6), all_.at(8));
  EXPECT_EQ(losses.at(9), all_.at(11));
  EXPECT_NE(Output().find("TRAINYARD_SKIP_SAMPLES does not contain 8:24"), std::string::npos)
      << Output();
}

TEST_F(SkipAgainTest, WithALongerList) {
  const Losses losses = GoOn("0:24,64:72");  // The run has already used positions 0 to 7.
  EXPECT_EQ(losses.at(6), all_.at(8));
  EXPECT_EQ(losses.at(7), all_.at(10));
  // When the run resumes once more, the longer list must still be in effect.
  folder_.spec["train"]["steps"] = 10;
  EXPECT_EQ(GoOn("").at(10), all_.at(13));
}

}  // namespace
}  // namespace trainyard::trainer
