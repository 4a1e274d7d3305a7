// Runs the complete program in fp16.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "tests/trainer/checkpoint/read_tensor.h"
#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// Uses a first scale that overflows in the first steps of a run.
void UseFp16(TrainerFolder& folder) {
  folder.spec["train"].update({{"precision", "fp16"},
                               {"log_every_steps", 1},
                               {"initial_loss_scale", 4294967296},
                               {"loss_scale_window", 3}});
  folder.spec["checkpoint"]["keep_last"] = 20;
  folder.spec["checkpoint"]["every_steps"] = 5;
}

std::map<int64_t, json> MetricsByStep(const TrainerFolder& folder, const TrainerStart& start) {
  TrainerProcess trainer(folder, start);
  EXPECT_EQ(trainer.Wait(), 0) << trainer.Output();
  std::map<int64_t, json> metrics;
  for (const json& record : trainer.Records("metrics")) metrics[record["step"]] = record;
  return metrics;
}

// Resumes from a checkpoint saved during the search for a scale, and from a later checkpoint.
TEST(Fp16RunTest, AResumedRunHasTheSameBitsAndScales) {
  TrainerFolder folder;
  UseFp16(folder);
  const auto whole = MetricsByStep(folder, {.run = "whole", .checkpoints = "whole"});
  ASSERT_EQ(whole.size(), 20u);
  EXPECT_GT(whole.at(20)["skipped_steps"], 2);
  for (const int64_t from : {5, 15}) {
    const std::string step = (from < 10 ? "0" : "") + std::to_string(from);
    TrainerStart start{.run = "from" + step, .checkpoints = "from" + step};
    start.variables["TRAINYARD_RESUME_FROM"] = folder.path() / ("whole/step_0000000" + step);
    const auto resumed = MetricsByStep(folder, start);
    ASSERT_EQ(resumed.size(), static_cast<size_t>(20 - from));
    for (const auto& [number, record] : resumed) {
      for (const char* key : {"loss", "grad_norm", "lr", "loss_scale", "skipped_steps"}) {
        EXPECT_EQ(record.value(key, json()), whole.at(number).value(key, json()))
            << key << " of step " << number;
      }
    }
  }
}

// The master weights of a checkpoint are fp32 numbers that fp16 cannot represent.
TEST(Fp16RunTest, ACheckpointHasTheWholeMasterWeights) {
  TrainerFolder folder;
  UseFp16(folder);
  folder.spec["train"]["initial_loss_scale"] = 1024;
  MetricsByStep(folder, {.run = "run", .checkpoints = "run"});
  const torch::Tensor weights =
      ReadWhole(CheckpointReader(folder.path() / "run/step_000000020"), "model.norm.weight");
  ASSERT_EQ(weights.scalar_type(), torch::kFloat32);
  EXPECT_FALSE(weights.to(torch::kHalf).to(torch::kFloat32).equal(weights));
}

TEST(Fp16RunTest, FollowsFp32) {
  TrainerFolder folder;
  UseFp16(folder);
  folder.spec["train"]["initial_loss_scale"] = 1024;
  const auto narrow = MetricsByStep(folder, {.run = "fp16", .checkpoints = "fp16"});
  folder.spec["train"].update({{"precision", "fp32"}});
  folder.spec["train"].erase("initial_loss_scale");
  folder.spec["train"].erase("loss_scale_window");
  const auto exact = MetricsByStep(folder, {.run = "fp32", .checkpoints = "fp32"});
  for (const auto& [step, record] : exact) {
    const double loss = record["loss"];
    EXPECT_NEAR(narrow.at(step)["loss"].get<double>(), loss, 2e-3 * loss) << "step " << step;
    EXPECT_FALSE(record.contains("loss_scale"));
  }
}

// A skipped step uses its samples and does not advance the schedule.
TEST(Fp16RunTest, ASkippedStepUsesSamplesButNotTheSchedule) {
  TrainerFolder folder;
  UseFp16(folder);
  folder.spec["train"]["loss_scale_window"] = 1000;
  const auto skipping = MetricsByStep(folder, {.run = "a", .checkpoints = "a"});
  folder.spec["train"]["initial_loss_scale"] = 1024;
  const auto plain = MetricsByStep(folder, {.run = "b", .checkpoints = "b"});
  const int64_t skipped = skipping.at(20)["skipped_steps"];
  ASSERT_GT(skipped, 0);
  EXPECT_EQ(plain.at(20)["skipped_steps"], 0);
  EXPECT_EQ(skipping.at(20)["lr"], plain.at(20 - skipped)["lr"]);
  for (const auto& [step, record] : skipping) {
    EXPECT_EQ(record["samples"], plain.at(step)["samples"]);
    EXPECT_EQ(record["tokens"], plain.at(step)["tokens"]);
  }
}

// Metrics of a skipped step have no gradient norm, which would look like divergence.
TEST(Fp16RunTest, OverflowsAreNotReportedAsDivergence) {
  TrainerFolder folder;
  UseFp16(folder);
  TrainerProcess trainer(folder, {});
  EXPECT_EQ(trainer.Wait(), 0) << trainer.Output();
  const json first = trainer.Records("metrics").front();
  EXPECT_FALSE(first.contains("grad_norm"));
  EXPECT_EQ(first["skipped_steps"], 1);
  EXPECT_TRUE(trainer.Records("alert").empty());
  EXPECT_NE(trainer.Output().find("step 1 changed no weights"), std::string::npos);
}

TEST(Fp16RunTest, TheRunEndsWhenTheLeastScaleOverflows) {
  TrainerFolder folder;
  UseFp16(folder);
  folder.spec["train"]["min_loss_scale"] = 1073741824;
  TrainerProcess trainer(folder, {});
  EXPECT_EQ(trainer.Wait(), 76) << trainer.Output();
  EXPECT_NE(trainer.Output().find("loss scale 1073741824, 4 such step(s) in a row"),
            std::string::npos)
      << trainer.Output();
}

}  // namespace
}  // namespace trainyard::trainer
