// Runs the complete program with a batch size that grows during the run.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

// Samples in each of the first steps with the settings of RampUp. Each later step has 8 samples.
const std::vector<int64_t> kBatches = {2, 2, 2, 2, 4, 4, 6, 6, 8, 8};

void RampUp(TrainerFolder& folder) {
  json& train = folder.spec["train"];
  train["global_batch"] = 8;
  train["rampup_batch_start"] = train["rampup_batch_increment"] = 2;
  train["rampup_batch_samples"] = 24;
  train.erase("steps");
  train["samples"] = 44;
  folder.spec["layout"] = {{"micro_batch", 1}};
  folder.spec["schedule"] = {{"warmup_samples", 10}};
  folder.spec["checkpoint"] = {{"every_steps", 1}, {"keep_last", 20}};
}

Losses TrainGrowing(TrainerFolder& folder, const json& layout, int64_t ranks,
                    const std::string& run, const std::string& from = "") {
  folder.spec["layout"].merge_patch(layout);
  TrainerStart start{.world_size = ranks, .run = run, .checkpoints = run};
  if (!from.empty()) start.variables["TRAINYARD_RESUME_FROM"] = folder.path() / from;
  const Losses losses = TrainToTheEnd(folder, start);
  folder.spec["layout"] = {{"micro_batch", 1}};
  return losses;
}

TEST(RampupTest, ARunThatGoesOnAnywhereEqualsAnUndisturbedOneBitForBit) {
  TrainerFolder folder;
  RampUp(folder);
  const json layout = {{"dp", 2}, {"zero", 1}};
  const Losses whole = TrainGrowing(folder, layout, 2, "whole");
  ASSERT_EQ(whole.size(), kBatches.size());
  for (const int64_t step : {3, 4, 5, 7}) {
    const std::string number = std::to_string(step);
    const Losses resumed =
        TrainGrowing(folder, layout, 2, "from" + number, "whole/step_00000000" + number);
    ASSERT_EQ(resumed.size(), kBatches.size() - step);
    for (const auto& [at, loss] : resumed) EXPECT_EQ(loss, whole.at(at)) << step << ", " << at;
  }
}

TEST(RampupTest, EveryLayoutHasTheSameSteps) {
  TrainerFolder folder;
  RampUp(folder);
  folder.spec["model"]["num_layers"] = 4;
  const Losses whole = TrainGrowing(folder, {{"dp", 1}}, 1, "whole");
  const auto expect_close = [&whole](const Losses& losses) {
    ASSERT_EQ(losses.size(), whole.size());
    for (const auto& [step, loss] : losses) {
      EXPECT_NEAR(loss, whole.at(step), 1e-5 * loss) << "step " << step;
    }
  };
  expect_close(TrainGrowing(folder, {{"dp", 2}, {"zero", 3}}, 2, "a"));
  expect_close(TrainGrowing(folder, {{"tp", 2}, {"cp", 2}}, 4, "b"));
  expect_close(TrainGrowing(folder, {{"pp", 2}, {"vpp", 2}, {"zero_bubble", true}}, 2, "c"));
  expect_close(TrainGrowing(folder, {{"dp", 2}, {"pp", 2}}, 4, "d"));
}

// The weights do not change, so the loss of a step depends only on its samples. Another run trains
// on the same samples, 2 per step. The loss of a step must equal the mean loss of the other run's
// steps with the same samples.
TEST(RampupTest, TheSampleOrderIsThatOfAConstantBatch) {
  TrainerFolder folder;
  RampUp(folder);
  folder.spec["optimizer"] = {{"lr", 0}, {"min_lr", 0}};
  const Losses growing = TrainGrowing(folder, {{"dp", 1}}, 1, "growing");
  for (const char* key : {"start", "increment", "samples"}) {
    folder.spec["train"].erase(std::string("rampup_batch_") + key);
  }
  folder.spec["train"]["global_batch"] = 2;
  const Losses constant = TrainGrowing(folder, {{"dp", 1}}, 1, "constant");
  int64_t next = 1;
  for (size_t i = 0; i < kBatches.size(); ++i) {
    double sum = 0;
    for (int64_t pair = 0; pair < kBatches[i] / 2; ++pair) sum += constant.at(next++);
    const double mean = sum / static_cast<double>(kBatches[i] / 2);
    EXPECT_NEAR(growing.at(static_cast<int64_t>(i) + 1), mean, 1e-6 * mean) << "step " << i + 1;
  }
}

TEST(RampupTest, TelemetryCountsTheTokensOfTheSteps) {
  TrainerFolder folder;
  RampUp(folder);
  TrainGrowing(folder, {{"dp", 1}}, 1, "run");
  const auto metrics = TelemetryRecords(folder.path() / "run_rank0", "metrics");
  ASSERT_EQ(metrics.size(), kBatches.size());
  int64_t samples = 0;
  for (size_t i = 0; i < metrics.size(); ++i) {
    samples += kBatches[i];
    EXPECT_EQ(metrics[i]["tokens"], samples * 16) << "step " << i + 1;
    EXPECT_EQ(metrics[i]["total_steps"], kBatches.size());
    const double tokens =
        metrics[i]["tokens_per_second"].get<double>() * metrics[i]["step_seconds"].get<double>();
    EXPECT_NEAR(tokens, kBatches[i] * 16, 1e-6 * tokens);
  }
}

}  // namespace
}  // namespace trainyard::trainer
