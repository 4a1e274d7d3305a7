// Runs the complete program with models that have experts.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/trainer/checkpoint/read_tensor.h"
#include "tests/trainer/trainer_process.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using Losses = std::map<int64_t, double>;

constexpr char kBias[] = "model.layers.1.mlp.gate.e_score_correction_bias";

// Experts as in DeepSeek-V3: sigmoid scores, a bias, groups, a shared expert, a dense first layer.
void AddExperts(TrainerFolder& folder) {
  folder.spec["model"].update({{"num_experts", 8},
                               {"moe_router_topk", 2},
                               {"moe_ffn_hidden_size", 16},
                               {"moe_shared_expert_intermediate_size", 16},
                               {"moe_dense_layers", 1},
                               {"moe_router_score_function", "sigmoid"},
                               {"moe_router_num_groups", 4},
                               {"moe_router_group_topk", 2},
                               {"moe_router_enable_expert_bias", true},
                               {"moe_router_load_balancing_type", "seq_aux_loss"},
                               {"moe_aux_loss_coeff", 0.01}});
  folder.spec["checkpoint"]["keep_last"] = 10;
}

Losses TrainExperts(TrainerFolder& folder, const json& layout, int64_t ranks,
                    const std::string& run, const std::string& from = "") {
  folder.spec["layout"] = layout;
  folder.spec["layout"]["micro_batch"] = 2;
  TrainerStart start{.world_size = ranks, .run = run, .checkpoints = run};
  if (!from.empty()) start.variables["TRAINYARD_RESUME_FROM"] = folder.path() / from;
  return TrainToTheEnd(folder, start);
}

torch::Tensor BiasIn(const TrainerFolder& folder, const std::string& checkpoint) {
  return ReadWhole(CheckpointReader(folder.path() / checkpoint), kBias);
}

void ExpectRefused(const TrainerFolder& folder, const std::string& part) {
  static int runs = 0;
  TrainerProcess trainer(folder, {.run = "refused" + std::to_string(++runs)});
  EXPECT_EQ(trainer.Wait(), 78) << trainer.Output();
  EXPECT_NE(trainer.Output().find(part), std::string::npos) << trainer.Output();
}

TEST(ExpertsProcessTest, AResumedRunHasTheSameBits) {
  TrainerFolder folder;
  AddExperts(folder);
  const Losses whole = TrainExperts(folder, {{"dp", 1}}, 1, "whole");
  const Losses resumed = TrainExperts(folder, {{"dp", 1}}, 1, "resumed", "whole/step_000000010");
  ASSERT_EQ(resumed.size(), 10u);
  for (const auto& [step, loss] : resumed) EXPECT_EQ(loss, whole.at(step)) << "step " << step;
  EXPECT_LT(whole.at(20), whole.at(1));
  const torch::Tensor bias = BiasIn(folder, "whole/step_000000020");
  EXPECT_GT(bias.abs().max().item<float>(), 0.001);
  EXPECT_TRUE(BiasIn(folder, "resumed/step_000000020").equal(bias));
}

TEST(ExpertsProcessTest, ACheckpointGoesFromLayoutToLayout) {
  TrainerFolder folder;
  AddExperts(folder);
  const Losses whole = TrainExperts(folder, {{"dp", 1}}, 1, "whole");
  const auto expect_close = [&](const Losses& losses, size_t steps) {
    EXPECT_EQ(losses.size(), steps) << "a resumed run trains only the remaining steps";
    for (const auto& [step, loss] : losses) {
      EXPECT_NEAR(loss, whole.at(step), 1e-5 * loss) << "step " << step;
    }
  };
  expect_close(
      TrainExperts(folder, {{"tp", 2}, {"etp", 1}, {"pp", 2}}, 4, "a", "whole/step_000000005"), 15);
  expect_close(TrainExperts(folder, {{"dp", 4}, {"ep", 4}}, 4, "ep", "a/step_000000010"), 10);
  expect_close(
      TrainExperts(folder, {{"dp", 2}, {"ep", 2}, {"zero", 3}}, 2, "b", "ep/step_000000015"), 5);
  EXPECT_TRUE(BiasIn(folder, "b/step_000000020").equal(BiasIn(folder, "whole/step_000000020")));
}

TEST(ExpertsProcessTest, ACapacityMustBePositive) {
  TrainerFolder folder;
  AddExperts(folder);
  folder.spec["layout"] = {{"micro_batch", 4}};
  for (const double factor : {0.0, -1.25}) {
    folder.spec["model"]["moe_expert_capacity_factor"] = factor;
    ExpectRefused(folder, "moe_expert_capacity_factor");
  }
}

TEST(ExpertsProcessTest, DividedExpertsGoOnBitForBit) {
  TrainerFolder folder;
  AddExperts(folder);
  const json layout = {{"tp", 2}, {"ep", 4}, {"etp", 1}, {"zero", 1}};
  const Losses whole = TrainExperts(folder, layout, 4, "whole");
  const Losses resumed = TrainExperts(folder, layout, 4, "resumed", "whole/step_000000010");
  ASSERT_EQ(resumed.size(), 10u);
  for (const auto& [step, loss] : resumed) EXPECT_EQ(loss, whole.at(step)) << "step " << step;
}

TEST(ExpertsProcessTest, ImpossibleDivisionsOfExpertsAreRefused) {
  TrainerFolder folder;
  AddExperts(folder);
  folder.spec["layout"] = {{"micro_batch", 4}, {"ep", 3}};
  ExpectRefused(folder, "must be a multiple of `layout.ep` (3)");
  folder.spec["layout"] = {{"micro_batch", 4}};
  folder.spec["model"]["moe_router_num_groups"] = 8;
  ExpectRefused(folder, "into groups of at least 2 experts");
}

}  // namespace
}  // namespace trainyard::trainer
