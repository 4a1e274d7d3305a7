// Runs the complete program on several processes with all kinds of layouts, and resumes checkpoints
// with a different layout.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

// Trains all ranks of the layout to the last step, keeps all checkpoints, and returns the losses.
Losses Train(TrainerFolder& folder, const json& layout, int64_t ranks, const std::string& run,
             const std::string& from = "") {
  folder.spec["layout"] = layout;
  folder.spec["layout"]["micro_batch"] = 2;
  folder.spec["checkpoint"]["keep_last"] = 10;
  TrainerStart start{.world_size = ranks, .run = run, .checkpoints = run};
  if (!from.empty()) start.variables["TRAINYARD_RESUME_FROM"] = folder.path() / from;
  return TrainToTheEnd(folder, start);
}

void ExpectClose(const Losses& losses, const Losses& expected, size_t steps) {
  EXPECT_EQ(losses.size(), steps);
  for (const auto& [step, loss] : losses) {
    EXPECT_NEAR(loss, expected.at(step), 1e-6 * expected.at(step)) << "step " << step;
  }
}

TEST(LayoutsTest, ProcessesEqualOneProcess) {
  TrainerFolder folder;
  folder.spec["model"]["num_layers"] = 4;
  const Losses whole = Train(folder, {{"dp", 1}}, 1, "whole");
  ExpectClose(Train(folder, {{"tp", 2}, {"pp", 2}}, 4, "a"), whole, 20);
  ExpectClose(Train(folder, {{"cp", 2}, {"zero", 3}}, 2, "b"), whole, 20);
  ExpectClose(Train(folder, {{"pp", 2}, {"vpp", 2}, {"zero_bubble", true}}, 2, "c"), whole, 20);
}

TEST(LayoutsTest, ACheckpointGoesFromLayoutToLayout) {
  TrainerFolder folder;
  folder.spec["checkpoint"]["every_steps"] = 4;
  const Losses whole = Train(folder, {{"dp", 1}}, 1, "whole");
  ExpectClose(Train(folder, {{"tp", 2}}, 2, "tp2"), whole, 20);
  ExpectClose(Train(folder, {{"pp", 2}}, 2, "pp2", "tp2/step_000000004"), whole, 16);
  ExpectClose(Train(folder, {{"dp", 4}}, 4, "dp4", "pp2/step_000000008"), whole, 12);
  ExpectClose(Train(folder, {{"dp", 2}, {"zero", 3}}, 2, "zero3", "dp4/step_000000012"), whole, 8);
  ExpectClose(Train(folder, {{"dp", 1}}, 1, "one", "zero3/step_000000016"), whole, 4);
}

TEST(LayoutsTest, TheSameLayoutGoesOnBitForBit) {
  TrainerFolder folder;
  const json layout = {{"tp", 2}, {"pp", 2}, {"zero", 1}};
  const Losses whole = Train(folder, layout, 4, "whole");
  const Losses resumed = Train(folder, layout, 4, "resumed", "whole/step_000000010");
  ASSERT_EQ(resumed.size(), 10u);
  for (const auto& [step, loss] : resumed) EXPECT_EQ(loss, whole.at(step)) << "step " << step;
}

}  // namespace
}  // namespace trainyard::trainer
