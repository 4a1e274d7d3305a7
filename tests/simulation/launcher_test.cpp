// Jobs whose workers start launchers of several ranks, while all faults occur.
#include <gtest/gtest.h>

#include <cstdint>

#include "proto/support/job_state.h"
#include "tests/simulation/simulated_cluster.h"

namespace trainyard::simulation {
namespace {

constexpr uint64_t kLauncherSeeds = 60;
constexpr int64_t kLauncherFaultsMs = 60'000;
constexpr int64_t kLongestLauncherRunMs = 15 * 60'000;

// All checkers check every step. Facts and reports of a launcher count for all of its ranks.
TEST(LauncherSimulationTest, LaunchersSurviveAllFaults) {
  int64_t succeeded = 0, restarted = 0, ranks = 0;
  for (uint64_t seed = 1; seed <= kLauncherSeeds; ++seed) {
    SimulationOptions options = seed % 2 == 0 ? AllFaults(seed) : ControlPlaneFaults(seed);
    options.slots_per_node = 4;
    options.launchers = true;
    SimulatedCluster cluster(options);
    cluster.RunFor(kLauncherFaultsMs);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestLauncherRunMs);
    ASSERT_EQ(cluster.failure(), "") << "seed " << seed;
    for (const v1::Job& job : cluster.Jobs()) {
      const bool has_launchers = job.spec().launch().has_processes_per_node();
      if (!has_launchers || job.spec().resources().slots_per_node() == 1) continue;
      succeeded += job.state() == v1::JOB_STATE_SUCCEEDED;
      restarted += job.attempts_size() > 1;
      ranks += job.attempts_size() > 0 ? job.attempts(0).ranks_size() : 0;
    }
  }
  const auto seeds = static_cast<int64_t>(kLauncherSeeds);
  EXPECT_GT(succeeded, seeds / 4);
  EXPECT_GT(restarted, seeds / 8);
  EXPECT_GT(ranks, 4 * seeds) << "no gang has several ranks per node";
}

}  // namespace
}  // namespace trainyard::simulation
