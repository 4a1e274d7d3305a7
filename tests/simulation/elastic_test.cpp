// Elastic jobs, while nodes die and are drained.
#include <gtest/gtest.h>

#include <cstdint>

#include "absl/strings/match.h"
#include "proto/support/job_state.h"
#include "tests/simulation/simulated_cluster.h"

namespace trainyard::simulation {
namespace {

constexpr uint64_t kElasticSeeds = 24;
constexpr uint64_t kGrowthSeeds = 4;
constexpr int64_t kElasticFaultsMs = 60'000;
constexpr int64_t kLongestElasticRunMs = 40 * 60'000;

struct SizeCounts {
  int64_t shrunk = 0, grown = 0, kept = 0;
};

void CountSizes(const SimulatedCluster& cluster, SizeCounts& counts) {
  for (const v1::Event& event : cluster.log()) {
    counts.shrunk += absl::StartsWith(event.job_placed().size_change(), "shrunk");
    counts.grown += absl::StartsWith(event.job_placed().size_change(), "grown");
    counts.kept += event.attempt_yielded().yield().kept_nodes_size() > 0;
  }
}

// The checker `elastic sizes allowed` checks every step.
TEST(ElasticSimulationTest, JobsShrinkWithinTheirRanges) {
  SizeCounts counts;
  for (uint64_t seed = 1; seed <= kElasticSeeds; ++seed) {
    SimulationOptions options = ControlPlaneFaults(seed);
    options.elastic_jobs = true;
    options.nodes = 7;
    options.jobs = 4;
    options.user_stop = 0;
    options.world.total_steps = 200;
    options.faults.node_crash = seed % 2 == 0 ? 0.03 : 0;
    options.faults.user_drain = seed % 3 == 0 ? 0.1 : 0.03;
    options.faults.rank_crash = seed % 4 == 0 ? 0.05 : 0;
    options.user_pause = seed % 4 == 1 ? 0.03 : 0;
    SimulatedCluster cluster(options);
    cluster.RunFor(kElasticFaultsMs);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestElasticRunMs);
    ASSERT_EQ(cluster.failure(), "") << "seed " << seed;
    CountSizes(cluster, counts);
  }
  EXPECT_GT(counts.shrunk, static_cast<int64_t>(kElasticSeeds) / 8);
  EXPECT_GT(counts.kept, static_cast<int64_t>(kElasticSeeds) / 8);
}

// Some jobs end early because of bugs. The runs of the others are so long that a restart on the
// free nodes pays off.
TEST(ElasticSimulationTest, JobsGrowWhenOthersEnd) {
  SizeCounts counts;
  for (uint64_t seed = 1; seed <= kGrowthSeeds; ++seed) {
    SimulationOptions options = ControlPlaneFaults(seed);
    options.elastic_jobs = true;
    options.jobs = 7;
    options.user_stop = 0;
    options.world.total_steps = 1500;
    options.world.bugs = {{1, 30}, {3, 30}, {4, 30}, {6, 30}};
    SimulatedCluster cluster(options);
    cluster.RunFor(kElasticFaultsMs);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestElasticRunMs);
    ASSERT_EQ(cluster.failure(), "") << "seed " << seed;
    CountSizes(cluster, counts);
  }
  EXPECT_GT(counts.grown, 0);
  EXPECT_LE(counts.grown, static_cast<int64_t>(kGrowthSeeds) * 8) << "sizes oscillate";
}

}  // namespace
}  // namespace trainyard::simulation
