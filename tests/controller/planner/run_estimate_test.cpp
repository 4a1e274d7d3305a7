#include "controller/planner/run_estimate.h"

#include <gtest/gtest.h>

#include "tests/controller/planner/run_settings.h"

namespace trainyard::planner {
namespace {

// From trainer/README.md: 16 samples of 2,048 tokens in 459 ms. The expected MFU was calculated by
// hand.
TEST(RunEstimateTest, RatesFollowFromTheStep) {
  RunSettings run = Settings(Llama(18, 2048, 7168, 16), 2048, 16, 16);
  run.per_node = 1;
  run.config.train.steps = 1000;
  const RunEstimate estimate = EstimateOf(run.config, ClusterOf("H200", run), 0.459);
  EXPECT_NEAR(estimate.tokens_per_second, 71390, 1);
  const double operations = 6 * 1'281'884'160.0 + 12.0 * 18 * 2048 * 2048;
  EXPECT_NEAR(estimate.mfu, 71390 * operations / 989.4e12, 1e-4);
  EXPECT_EQ(estimate.tokens, 1000.0 * 16 * 2048);
  EXPECT_NEAR(estimate.days, 459.0 / 86400, 1e-9);
  EXPECT_NEAR(estimate.device_hours, 459.0 / 3600, 1e-6);
}

TEST(RunEstimateTest, SmallerBatchesOfARampUpTakeLess) {
  RunSettings run = Settings(Llama(18, 2048, 7168, 16), 2048, 64, 1);
  run.config.train.steps = 100;
  const Cluster cluster = ClusterOf("H200", run);
  const double whole = EstimateOf(run.config, cluster, 1).days;
  run.config.train.rampup_batch_start = 16;
  run.config.train.rampup_batch_increment = 16;
  run.config.train.rampup_batch_samples = 1600;
  EXPECT_LT(EstimateOf(run.config, cluster, 1).days, whole);
}

TEST(RunEstimateTest, StagesTakeNodesInTheOrderOfRanks) {
  const RunSettings run = Settings(Llama(32, 4096, 14336, 32), 2048, 64, 1).Tp(2).Dp(6).Pp(4);
  const std::vector<StagePlace> places = PlacesOfStages(run.config, ClusterOf("H100", run));
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[1].first_rank, 12);
  EXPECT_EQ(places[1].last_rank, 23);
  EXPECT_EQ(places[1].first_node, 1);
  EXPECT_EQ(places[1].last_node, 2);
  int64_t layers = 0;
  for (const StagePlace& place : places) layers += place.layers;
  EXPECT_EQ(layers, 32);
}

}  // namespace
}  // namespace trainyard::planner
