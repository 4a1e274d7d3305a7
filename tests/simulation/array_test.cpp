// Arrays, while the controller and workers are killed.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/simulation/simulated_cluster.h"

namespace trainyard::simulation {
namespace {

constexpr uint64_t kArraySeeds = 40;
constexpr int64_t kArrayFaultsMs = 60'000;
constexpr int64_t kLongestArrayRunMs = 30 * 60'000;

struct ArrayTotals {
  int64_t arrays = 0, elements = 0, succeeded = 0, failed = 0, stopped = 0;
};

void CountArrays(const SimulatedCluster& cluster, ArrayTotals& counts) {
  for (const v1::Job& job : cluster.Jobs()) {
    counts.elements += job.array_id() != 0;
    if (!job.has_array()) continue;
    ++counts.arrays;
    counts.succeeded += job.state() == v1::JOB_STATE_SUCCEEDED;
    counts.failed += job.state() == v1::JOB_STATE_FAILED;
    counts.stopped += job.state() == v1::JOB_STATE_STOPPED;
  }
}

// The checker `elements start once` checks every step, also after a controller was killed in the
// middle of an array.
TEST(ArraySimulationTest, EveryElementStartsOnceAndArraysEnd) {
  ArrayTotals counts;
  for (uint64_t seed = 1; seed <= kArraySeeds; ++seed) {
    SimulationOptions options = ControlPlaneFaults(seed);
    options.arrays = true;
    options.faults.controller_crash = 0.05;
    options.faults.rank_crash = seed % 2 == 0 ? 0.1 : 0;
    options.user_pause = seed % 4 == 0 ? 0.03 : 0;
    options.user_stop = seed % 3 == 0 ? 0.03 : 0;
    SimulatedCluster cluster(options);
    cluster.RunFor(kArrayFaultsMs);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestArrayRunMs);
    ASSERT_EQ(cluster.failure(), "");
    CountArrays(cluster, counts);
  }
  const auto seeds = static_cast<int64_t>(kArraySeeds);
  EXPECT_GT(counts.arrays, seeds);
  EXPECT_GT(counts.elements, 3 * seeds);
  EXPECT_GT(counts.succeeded, seeds / 2);
  EXPECT_GT(counts.failed + counts.stopped, seeds / 4);
}

}  // namespace
}  // namespace trainyard::simulation
