// Two controllers on one store: another controller takes over again and again, and the one before
// it does not know this for a while.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/simulation/simulated_cluster.h"

namespace trainyard::simulation {
namespace {

constexpr uint64_t kFailoverSeeds = 40;
constexpr int64_t kFailoverFaultsMs = 60'000;
constexpr int64_t kLongestFailoverRunMs = 30 * 60'000;

// All checkers hold, among them: the terms of the log never fall, no rank starts twice, and no
// worker obeys a lower term. A job restarts only because of other faults.
TEST(FailoverSimulationTest, TheControllerBeforeChangesNothing) {
  int64_t succeeded = 0;
  int64_t highest = 0;
  for (uint64_t seed = 1; seed <= kFailoverSeeds; ++seed) {
    SimulationOptions options = ControlPlaneFaults(seed);
    options.faults.failover = 0.2;
    options.faults.rank_crash = seed % 4 == 0 ? 0.1 : 0;
    options.user_stop = seed % 3 == 0 ? 0.03 : 0;
    SimulatedCluster cluster(options);
    cluster.RunFor(kFailoverFaultsMs);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestFailoverRunMs);
    ASSERT_EQ(cluster.failure(), "");
    for (const v1::Job& job : cluster.Jobs()) succeeded += job.state() == v1::JOB_STATE_SUCCEEDED;
    highest = std::max(highest, cluster.NewestTerm());
  }
  EXPECT_GT(succeeded, static_cast<int64_t>(kFailoverSeeds));
  EXPECT_GT(highest, 10);
}

}  // namespace
}  // namespace trainyard::simulation
