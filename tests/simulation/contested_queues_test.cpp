// Jobs of several queues compete for slots, under faults of all kinds. TRAINYARD_CONTESTED_RUNS is
// the number of seeds (see README.md), TRAINYARD_SIMULATION_SEED the first one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iostream>

#include "proto/support/job_state.h"
#include "tests/fakes/environment_number.h"
#include "tests/simulation/simulated_cluster.h"

namespace trainyard::simulation {
namespace {

constexpr int64_t kContestedMs = 120'000;
constexpr int64_t kLongestContestedRunMs = 60 * 60'000;

struct QueueTally {
  int64_t preempted = 0, moved = 0, queues_set = 0, drained = 0, requeued = 0, succeeded = 0;
  int64_t extended = 0, resized = 0, halved = 0;
  int64_t reserved = 0;
};

void Count(const SimulatedCluster& cluster, QueueTally& tally) {
  for (const v1::Event& event : cluster.log()) {
    const v1::YieldCause cause = event.attempt_yielded().yield().cause();
    tally.preempted += cause == v1::YIELD_CAUSE_PREEMPTED;
    tally.requeued += cause == v1::YIELD_CAUSE_TIME_LIMIT;
    tally.drained += event.has_node_drained();
    tally.moved += event.has_job_moved();
    tally.extended += event.has_job_extended();
    tally.resized += !event.job_placed().size_change().empty();
    tally.halved += event.array_halved().rung().stopped();
    tally.queues_set += event.has_queue_set();
    tally.reserved += event.has_nodes_reserved();
  }
  for (const v1::Job& job : cluster.Jobs()) {
    tally.succeeded += job.state() == v1::JOB_STATE_SUCCEEDED;
  }
}

// The checkers for contested queues check every step.
TEST(ContestedQueuesTest, QueuesShareTheClusterAndEveryJobEnds) {
  const uint64_t first = test::EnvironmentNumber("TRAINYARD_SIMULATION_SEED", 1);
  const uint64_t runs = test::EnvironmentNumber("TRAINYARD_CONTESTED_RUNS", 60);
  QueueTally tally;
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    SimulatedCluster cluster(ContestedQueues(seed));
    cluster.RunFor(kContestedMs);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(kLongestContestedRunMs);
    ASSERT_EQ(cluster.failure(), "");
    Count(cluster, tally);
  }
  std::cout << tally.preempted << " preemptions, " << tally.moved << " moves of jobs, "
            << tally.queues_set << " changes of queues, " << tally.drained << " drained nodes, "
            << tally.requeued << " jobs queued again at their limits, " << tally.extended
            << " extended limits, " << tally.resized << " changed sizes, " << tally.halved
            << " halved elements, " << tally.succeeded << " jobs succeeded in " << runs
            << " runs\n";
  if (runs < 60) return;
  const auto least = static_cast<int64_t>(runs);
  EXPECT_GT(tally.preempted, least);
  EXPECT_GT(tally.moved, least);
  EXPECT_GT(tally.queues_set, least);
  EXPECT_GT(tally.drained, least / 10);
  EXPECT_GT(tally.reserved, least);
  EXPECT_GT(tally.requeued, least / 2);
  EXPECT_GT(tally.extended, least / 4);
  EXPECT_GT(tally.resized, least / 10);
  EXPECT_GT(tally.halved, least / 10);
  EXPECT_GT(tally.succeeded, 4 * least);
}

}  // namespace
}  // namespace trainyard::simulation
