// Jobs with time limits, while faults of the control plane occur and clocks are set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "proto/support/job_state.h"
#include "tests/simulation/simulated_cluster.h"

namespace trainyard::simulation {
namespace {

constexpr uint64_t kSeeds = 40;
constexpr int64_t kFaultsMs = 60'000;
constexpr int64_t kLongestLimitedRunMs = 15 * 60'000;

struct Counts {
  int64_t ended = 0, requeued = 0, warned = 0, extended = 0, succeeded = 0;
};

void Count(const SimulatedCluster& cluster, Counts& counts) {
  for (const v1::Event& event : cluster.log()) {
    counts.ended += event.has_time_limit_reached();
    counts.warned += event.has_time_limit_warned();
    counts.extended += event.has_job_extended();
    counts.requeued += event.attempt_yielded().yield().cause() == v1::YIELD_CAUSE_TIME_LIMIT;
  }
  for (const v1::Job& job : cluster.Jobs())
    counts.succeeded += job.state() == v1::JOB_STATE_SUCCEEDED;
}

// The checker `time limits kept` checks every step.
TEST(TimeLimitSimulationTest, JobsEndOrAreQueuedAgainAtTheirLimits) {
  Counts counts;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SimulationOptions options = ControlPlaneFaults(seed);
    options.time_limits = true;
    options.faults.clock_step = seed % 3 == 0 ? 0.03 : 0;
    options.faults.rank_crash = seed % 2 == 0 ? 0.05 : 0;
    options.user_pause = seed % 4 == 0 ? 0.03 : 0;
    SimulatedCluster cluster(options);
    cluster.RunFor(kFaultsMs);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestLimitedRunMs);
    ASSERT_EQ(cluster.failure(), "");
    Count(cluster, counts);
  }
  const auto seeds = static_cast<int64_t>(kSeeds);
  EXPECT_GT(counts.ended, seeds / 4);
  EXPECT_GT(counts.requeued, seeds / 4);
  EXPECT_GT(counts.warned, seeds / 8);
  EXPECT_GT(counts.extended, seeds / 8);
  EXPECT_GT(counts.succeeded, seeds / 8);
}

}  // namespace
}  // namespace trainyard::simulation
