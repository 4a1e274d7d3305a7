// Runs the complete program and checks the metrics in its telemetry.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/trainer/trainer_process.h"
#include "trainer/report/metric_values.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// Returns rank 0's metrics records.
std::vector<json> MetricsOf(const TrainerFolder& folder, const std::string& run) {
  return TelemetryRecords(folder.path() / (run + "_rank0"), "metrics");
}

// Returns the values of one metric, by step.
std::map<int64_t, double> ValuesOf(const TrainerFolder& folder, const std::string& run,
                                   const std::string& key) {
  std::map<int64_t, double> values;
  for (const json& record : MetricsOf(folder, run)) {
    if (record.contains(key)) values[record["step"]] = record[key];
  }
  return values;
}

void Measure(TrainerFolder& folder) {
  folder.spec["train"]["steps"] = 6;
  folder.spec["train"]["gradient_log_interval"] = 3;
  folder.spec["train"]["gradient_noise_scale"] = true;
  folder.spec["optimizer"]["adaptive_clip"] = 0.01;
  folder.spec["checkpoint"] = {{"every_steps", 1}, {"keep_last", 20}};
  folder.spec["evaluation"] = {{"every_steps", 0}};
}

TEST(FiguresTest, EveryRecordHasTheMainFigures) {
  TrainerFolder folder;
  Measure(folder);
  TrainToTheEnd(folder, {});
  const auto losses = ValuesOf(folder, "run", "loss");
  EXPECT_EQ(losses.size(), 6);
  for (const auto& [step, loss] : losses) {
    EXPECT_DOUBLE_EQ(ValuesOf(folder, "run", "perplexity").at(step), std::exp(loss));
    const double samples = ValuesOf(folder, "run", "samples_per_second").at(step);
    EXPECT_NEAR(ValuesOf(folder, "run", "tokens_per_second").at(step) / samples, 16, 1e-9);
    EXPECT_GT(ValuesOf(folder, "run", "clipped_units").at(step), 0);
  }
}

TEST(FiguresTest, GradientNormsOfPartsComeAtTheirInterval) {
  TrainerFolder folder;
  Measure(folder);
  folder.spec["train"]["log_every_steps"] = 2;
  TrainToTheEnd(folder, {.world_size = 2});
  for (const char* part : {"embedding", "layer_0", "layer_1", "final_norm", "head"}) {
    const auto norms = ValuesOf(folder, "run", std::string("grad_norm/") + part);
    ASSERT_EQ(norms.size(), 2) << part;
    EXPECT_GT(norms.at(3), 0);
    EXPECT_GT(norms.at(6), 0);
  }
  EXPECT_EQ(ValuesOf(folder, "run", "loss").size(), 3);
}

TEST(FiguresTest, TheNoiseScaleGoesOnFromACheckpointBitForBit) {
  TrainerFolder folder;
  Measure(folder);
  TrainToTheEnd(folder, {.run = "whole", .checkpoints = "whole"});
  const auto traces = ValuesOf(folder, "whole", "noise_scale_trace");
  ASSERT_EQ(traces.size(), 6);
  TrainerStart start{.run = "resumed", .checkpoints = "resumed"};
  start.variables["TRAINYARD_RESUME_FROM"] = folder.path() / "whole/step_000000003";
  TrainToTheEnd(folder, start);
  const auto whole = ValuesOf(folder, "whole", "noise_scale"),
             resumed = ValuesOf(folder, "resumed", "noise_scale");
  ASSERT_FALSE(resumed.empty());
  for (const auto& [step, scale] : resumed) EXPECT_EQ(scale, whole.at(step)) << "step " << step;
}

TEST(FiguresTest, OptionalFiguresAreOffByDefault) {
  TrainerFolder folder;
  folder.spec["train"]["steps"] = 5;
  TrainToTheEnd(folder, {});
  EXPECT_FALSE(MetricsOf(folder, "run").empty());
  for (const json& record : MetricsOf(folder, "run")) {
    for (const auto& [key, _] : record.items()) {
      EXPECT_EQ(key.find("noise_scale"), std::string::npos) << key;
      EXPECT_EQ(key.find("grad_norm/"), std::string::npos) << key;
      EXPECT_NE(key, "clipped_units");
    }
  }
}

TEST(FiguresTest, RecordsOfAVeryDeepModelAreCut) {
  ModelConfig model;
  model.num_layers = 450;
  const auto records = PartNormRecords(model, std::vector<double>(453, 1.5));
  ASSERT_EQ(records.size(), 3);
  EXPECT_EQ(records[0].front().first, "grad_norm/embedding");
  EXPECT_EQ(records[0].size(), 200);
  EXPECT_EQ(records[2].size(), 53);
  EXPECT_EQ(records[2].back().first, "grad_norm/head");
}

TEST(FiguresTest, PerplexityOfALossThatDivergesIsBounded) {
  EXPECT_DOUBLE_EQ(TrainingPerplexity(2), std::exp(2));
  EXPECT_DOUBLE_EQ(TrainingPerplexity(50), std::exp(20));
}

TEST(FiguresTest, BothUtilisationsAreTold) {
  StepReport report;
  const auto has = [&](const std::string& key) {
    for (const auto& [name, _] : MainValues(report)) {
      if (name == key) return true;
    }
    return false;
  };
  EXPECT_FALSE(has("mfu"));
  report.mfu = 0.5;
  report.mfu_causal = 0.45;
  EXPECT_TRUE(has("mfu"));
  EXPECT_TRUE(has("mfu_causal"));
}

}  // namespace
}  // namespace trainyard::trainer
