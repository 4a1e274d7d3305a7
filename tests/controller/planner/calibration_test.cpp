#include "controller/planner/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

ModelConfig DenseModel() { return Llama(18, 2048, 7168, 16); }

// Returns runs on a device whose speed differs from the predictions. The runs have various numbers
// of micro-batches and ZeRO stages. Experts are on all ranks.
std::vector<MeasuredStep> RunsOf(const StepScale& truth, bool knows_parts,
                                 const ModelConfig& model = DenseModel()) {
  std::vector<MeasuredStep> runs;
  for (const int64_t micro_batch : {1, 2, 4}) {
    for (const int64_t zero : {0, 1, 3}) {
      const int64_t groups = std::max<int64_t>(model.num_experts, 1);
      const RunSettings run = Settings(model, 2048, 64, micro_batch).Dp(8).Ep(groups).Zero(zero);
      MeasuredStep measured;
      measured.predicted = PredictStep(run.config, ClusterOf("H200", run));
      const StepTime real = Scaled(truth, measured.predicted);
      measured.seconds = real.Total();
      if (knows_parts) measured.measured = real;
      runs.push_back(measured);
    }
  }
  return runs;
}

TEST(CalibrationTest, FindsTheScaleOfEachPart) {
  const StepScale truth = {.compute = 1.2, .optimizer = 0.8, .data_wait = 2};
  const Calibration found = *Calibrate("H200", RunsOf(truth, true));
  EXPECT_EQ(found.device, "H200");
  EXPECT_EQ(found.runs, 9);
  EXPECT_NEAR(found.scale.compute, 1.2, 1e-9);
  EXPECT_NEAR(found.scale.optimizer, 0.8, 1e-9);
  EXPECT_NEAR(found.scale.data_wait, 2, 1e-9);
  EXPECT_GT(found.error_before, 0.1);
  EXPECT_LT(found.error_after, 1e-9);
}

TEST(CalibrationTest, FindsTheScaleOfTheWaitForExperts) {
  const StepScale truth = {.compute = 1.2, .expert_wait = 1.7};
  const Calibration found =
      *Calibrate("H200", RunsOf(truth, true, WithExperts(DenseModel(), 8, 2, 7168)));
  EXPECT_NEAR(found.scale.compute, 1.2, 1e-9);
  EXPECT_NEAR(found.scale.expert_wait, 1.7, 1e-9);
  EXPECT_LT(found.error_after, 1e-9);
}

TEST(CalibrationTest, WithoutPartsTheWholeStepIsScaled) {
  StepScale truth;
  VisitScale(truth, [](const char*, double& value) { value = 1.3; });
  const Calibration found = *Calibrate("H200", RunsOf(truth, false));
  EXPECT_NEAR(found.scale.compute, 1.3, 1e-9);
  EXPECT_NEAR(found.scale.tensor_wait, 1.3, 1e-9);
  EXPECT_NEAR(found.scale.expert_wait, 1.3, 1e-9);
}

// The parts may not add up to the whole step, for example because of a slow host. The times of
// whole steps are still correct.
TEST(CalibrationTest, PartsThatDoNotAddUpAreScaledToTheStep) {
  std::vector<MeasuredStep> runs = RunsOf({}, true);
  for (MeasuredStep& run : runs) run.seconds *= 1.5;
  const Calibration found = *Calibrate("H200", runs);
  EXPECT_NEAR(found.scale.compute, 1.5, 1e-9);
  EXPECT_LT(found.error_after, 1e-9);
}

TEST(CalibrationTest, OneBadRunDoesNotMoveIt) {
  std::vector<MeasuredStep> runs = RunsOf({.compute = 1.1}, true);
  runs.front().measured.compute *= 10;
  runs.front().seconds *= 10;
  EXPECT_NEAR(Calibrate("H200", runs)->scale.compute, 1.1, 0.01);
}

TEST(CalibrationTest, NeedsARun) {
  EXPECT_FALSE(Calibrate("H200", {}).has_value());
  EXPECT_FALSE(Calibrate("H200", {MeasuredStep{}}).has_value());
}

TEST(CalibrationTest, PredictionsOfACalibratedClusterAreScaled) {
  const RunSettings run = Settings(Llama(18, 2048, 7168, 16), 2048, 64, 4).Dp(8).Zero(1);
  Cluster cluster = ClusterOf("H200", run);
  const StepTime before = PredictStep(run.config, cluster);
  cluster.scale = {.compute = 1.25, .data_wait = 3};
  const StepTime after = PredictStep(run.config, cluster);
  EXPECT_NEAR(after.compute, 1.25 * before.compute, 1e-12);
  EXPECT_NEAR(after.data_wait, 3 * before.data_wait, 1e-12);
  EXPECT_EQ(after.optimizer, before.optimizer);
}

}  // namespace
}  // namespace trainyard::planner
