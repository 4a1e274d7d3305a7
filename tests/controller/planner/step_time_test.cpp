#include "controller/planner/step_time.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/controller/planner/run_settings.h"
#include "tests/controller/planner/uneven_tree.h"

namespace trainyard::planner {
namespace {

StepTime Predicted(const RunSettings& run, const std::string& device = "H200") {
  return PredictStep(run.config, ClusterOf(device, run));
}

RunSettings Small(int64_t batch) { return Settings(Llama(32, 4096, 14336, 32), 4096, batch, 1); }

TEST(StepTimeTest, ARankAloneComputesAndUpdates) {
  const StepTime step = Predicted(Small(8));
  EXPECT_GT(step.compute, 0);
  EXPECT_GT(step.optimizer, 0);
  EXPECT_EQ(step.Total(), step.compute + step.optimizer);
}

TEST(StepTimeTest, WorkGrowsWithTheBatch) {
  EXPECT_NEAR(Predicted(Small(16)).compute, 2 * Predicted(Small(8)).compute, 1e-9);
  EXPECT_EQ(Predicted(Small(16)).optimizer, Predicted(Small(8)).optimizer);
}

TEST(StepTimeTest, EveryAxisHasItsWait) {
  EXPECT_GT(Predicted(Small(8).Tp(2)).tensor_wait, 0);
  EXPECT_GT(Predicted(Small(8).Cp(2)).context_wait, 0);
  EXPECT_GT(Predicted(Small(8).Pp(2)).pipeline_wait, 0);
  EXPECT_GT(Predicted(Small(8).Dp(2)).data_wait, 0);
  EXPECT_GT(Predicted(Small(64).Dp(64)).world_wait, 0);
  const StepTime tensor = Predicted(Small(8).Tp(2));
  EXPECT_EQ(tensor.context_wait + tensor.pipeline_wait + tensor.data_wait + tensor.world_wait, 0);
}

// The bubble is (p - 1) / m of the work, for p stages and m micro-batches. Several chunks per stage
// or deferred weight gradients make the bubble smaller.
TEST(StepTimeTest, BubblesFollowTheSchedule) {
  RunSettings run = Small(32).Pp(4);
  run.config.model.vocab_size = 128;  // Gives all stages equal work.
  const Cluster cluster = {FindDeviceSpec("H200"), 1, 4, *FindNetwork("ndr")};
  TrainerProfile profile = TrainyardProfile();
  profile.node_link = 1e9;  // Transfers then take no time.
  const auto bubble = [&](const RunConfig& config) {
    const StepTime step = SecondsOfStep(config, PlanPass(config, cluster, profile),
                                        LoadsOfStages(config, true), cluster, profile);
    return step.pipeline_wait / step.compute;
  };
  EXPECT_NEAR(bubble(run.config), 3.0 / 32, 0.002);
  EXPECT_NEAR(bubble(run.Vpp(2).config), 3.0 / 64, 0.002);
  profile.zero_bubble_left = 1.0 / 3;
  EXPECT_NEAR(bubble(run.ZeroBubble().config), 1.0 / 32, 0.003);
}

TEST(StepTimeTest, RecomputationCostsAForwardPass) {
  const double none = Predicted(Small(8)).compute;
  RunSettings run = Small(8).Full();
  const double full = Predicted(run).compute;
  EXPECT_GT(full, 1.25 * none);
  EXPECT_LT(full, 1.36 * none);
  run.config.layout.recompute_num_layers = 16;
  EXPECT_NEAR(Predicted(run).compute, (none + full) / 2, 1e-6);
  run.config.layout.recompute = Recompute::kSelective;
  run.config.layout.recompute_num_layers = 0;
  EXPECT_GT(Predicted(run).compute, none);
  EXPECT_LT(Predicted(run).compute, 1.05 * none);
}

TEST(StepTimeTest, ShardsOfTheStateAreUpdatedByTheirOwners) {
  EXPECT_LT(Predicted(Small(8).Dp(8).Zero(1)).optimizer, Predicted(Small(8).Dp(8)).optimizer / 4);
  EXPECT_GT(Predicted(Small(64).Dp(8).Zero(3)).data_wait,
            Predicted(Small(64).Dp(8).Zero(1)).data_wait)
      << "eight rounds";
}

TEST(StepTimeTest, SlowNetworksShow) {
  const RunSettings run = Small(16).Dp(16).Zero(1);
  Cluster cluster = ClusterOf("H200", run);
  const double fast = PredictStep(run.config, cluster).Total();
  cluster.network = *FindNetwork("eth25");
  EXPECT_GT(PredictStep(run.config, cluster).Total(), 2 * fast);
}

// Two stages of 32 ranks. A rank sends its part of the rows of one sample of 4,096 tokens: 2 * 512
// * 4,096 bytes, forward and back for each of eight micro-batches. Without the tree the transfers
// run at the 50 GB/s of NDR, with the tree at the 12.5 GB/s of the spine.
TEST(StepTimeTest, PipelinesAcrossLeavesWaitForTheSpine) {
  const RunSettings run = Small(32).Tp(8).Dp(4).Pp(2).Zero(1);
  Cluster cluster = ClusterOf("H100", run);
  const StepTime plain = PredictStep(run.config, cluster);
  cluster.tree = std::make_shared<NetworkTree>(UnevenTree());
  const StepTime placed = PredictStep(run.config, cluster);
  const TrainerProfile& profile = TrainyardProfile();
  const double bytes = 2.0 * 512 * 4096;
  const double slower = bytes / profile.network * (1 / 12.5e9 - 1 / 50e9) + 20e-6 - 8e-6;
  EXPECT_NEAR(placed.pipeline_wait - plain.pipeline_wait,
              (profile.pipeline_exposed * 2 * 8 + 2) * slower, 1e-9);
  EXPECT_EQ(placed.compute, plain.compute);
  EXPECT_EQ(placed.tensor_wait, plain.tensor_wait);
}

TEST(StepTimeTest, FasterDevicesTakeLess) {
  EXPECT_LT(Predicted(Small(8), "B200").Total(), Predicted(Small(8), "H200").Total());
  EXPECT_LT(Predicted(Small(8), "H200").Total(), Predicted(Small(8), "A100").Total());
  EXPECT_LT(Predicted(Small(8), "A100").Total(), Predicted(Small(8), "A10G").Total());
}

// A step takes 57 ms, and reads 32 samples of 1,024 tokens. A disk is fast enough for that; an
// object store is not.
TEST(StepTimeTest, StorageBoundsTheStepWhereItIsSlower) {
  const RunSettings run = Settings(Gated(12, 768, 2048, 12, 50304), 1024, 32, 32);
  Cluster cluster = ClusterOf("H200", run);
  const StepTime uncounted = PredictStep(run.config, cluster);
  EXPECT_EQ(uncounted.input_wait, 0);
  cluster.storage = FindStorage("nvme");
  EXPECT_EQ(PredictStep(run.config, cluster).Total(), uncounted.Total());
  cluster.storage = FindStorage("object");
  const StepTime slow = PredictStep(run.config, cluster);
  EXPECT_NEAR(slow.Total(), 32 * (50e-3 + 4096 / 100e6), 1e-9);
  EXPECT_NEAR(slow.input_wait, slow.Total() - uncounted.Total(), 1e-9);
  EXPECT_EQ(FindStorage("tape"), nullptr);
}

}  // namespace
}  // namespace trainyard::planner
