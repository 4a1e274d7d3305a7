// Runs the complete program with multi-token prediction.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

void AddModules(TrainerFolder& folder) {
  folder.spec["model"].update({{"mtp_num_layers", 2}, {"mtp_loss_scaling_factor", 0.3}});
  folder.spec["checkpoint"]["keep_last"] = 10;
}

Losses TrainModules(TrainerFolder& folder, const json& layout, int64_t ranks,
                    const std::string& run, const std::string& from = "") {
  folder.spec["layout"] = layout;
  folder.spec["layout"]["micro_batch"] = 2;
  TrainerStart start{.world_size = ranks, .run = run, .checkpoints = run};
  if (!from.empty()) start.variables["TRAINYARD_RESUME_FROM"] = folder.path() / from;
  return TrainToTheEnd(folder, start);
}

Losses ModuleLossesOf(const TrainerFolder& folder, const std::string& run) {
  Losses losses;
  for (const json& record : TelemetryRecords(folder.path() / (run + "_rank0"), "metrics")) {
    if (record.contains("mtp_loss")) losses[record["step"]] = record["mtp_loss"];
  }
  return losses;
}

TEST(MultiTokenProcessTest, AResumedRunHasTheSameBits) {
  TrainerFolder folder;
  AddModules(folder);
  const Losses whole = TrainModules(folder, {{"dp", 1}}, 1, "whole");
  const Losses resumed = TrainModules(folder, {{"dp", 1}}, 1, "resumed", "whole/step_000000010");
  ASSERT_EQ(resumed.size(), 10u);
  for (const auto& [step, loss] : resumed) EXPECT_EQ(loss, whole.at(step)) << "step " << step;
  const Losses of_modules = ModuleLossesOf(folder, "whole");
  EXPECT_GT(of_modules.at(1), of_modules.at(20));
  EXPECT_EQ(ModuleLossesOf(folder, "resumed").at(20), of_modules.at(20));
}

// Stages that are different ranks have two copies of the embedding.
TEST(MultiTokenProcessTest, ACheckpointGoesFromLayoutToLayout) {
  TrainerFolder folder;
  AddModules(folder);
  const Losses whole = TrainModules(folder, {{"dp", 1}}, 1, "whole");
  const auto expect_close = [&](const Losses& losses, size_t steps) {
    EXPECT_EQ(losses.size(), steps) << "a resumed run trains only the remaining steps";
    for (const auto& [step, loss] : losses) {
      EXPECT_NEAR(loss, whole.at(step), 1e-5 * loss) << "step " << step;
    }
  };
  expect_close(TrainModules(folder, {{"tp", 2}, {"pp", 2}}, 4, "a", "whole/step_000000005"), 15);
  expect_close(TrainModules(folder, {{"dp", 2}, {"zero", 3}}, 2, "b", "a/step_000000015"), 5);
}

}  // namespace
}  // namespace trainyard::trainer
