// Several controllers on one store, for each of several consecutive seeds.
// TRAINYARD_SIMULATION_SEED is the first seed, TRAINYARD_STORE_RUNS the number of seeds (see
// README.md).
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>

#include "tests/fakes/environment_number.h"
#include "tests/simulation/store/store_cluster.h"

namespace trainyard::simulation {
namespace {

constexpr int64_t kFaultsMs = 30'000;
constexpr int64_t kLongestSettlingMs = 90'000;

uint64_t FirstStoreSeed() { return test::EnvironmentNumber("TRAINYARD_SIMULATION_SEED", 1); }
uint64_t StoreRuns() { return test::EnvironmentNumber("TRAINYARD_STORE_RUNS", 100); }

// The number of times that something happened, over all seeds.
struct StoreTally {
  int64_t take_overs = 0;
  int64_t continued = 0;
  int64_t refused = 0;
  int64_t unknown = 0;
  int64_t messages_refused = 0;
  int64_t commits = 0;
  int64_t operations = 0;

  void Add(const StoreCluster& cluster) {
    for (const auto& member : cluster.members()) {
      take_overs += member->take_overs();
      continued += member->continued();
      refused += member->commits_refused();
      unknown += member->commits_unknown();
    }
    messages_refused += cluster.messages_refused();
    commits += cluster.audit().commits();
    operations += static_cast<int64_t>(cluster.operations());
  }

  void Print(uint64_t seeds) const {
    std::cout << seeds << " seeds: " << take_overs << " terms, of which " << continued
              << " continued the state of a standby, " << commits << " commits, " << refused
              << " refused, " << unknown << " unknown, " << messages_refused
              << " messages of lower terms refused, " << operations << " operations of clients\n";
  }
};

std::string RunStoreSeed(const StoreClusterOptions& options, StoreTally& tally) {
  StoreCluster cluster(options);
  cluster.RunFor(kFaultsMs);
  cluster.Settle(kLongestSettlingMs);
  cluster.CheckEnd();
  tally.Add(cluster);
  return cluster.failure();
}

TEST(StoreSimulationTest, OneLeaderWritesAndNothingIsLost) {
  StoreTally tally;
  for (uint64_t i = 0; i < StoreRuns(); ++i) {
    ASSERT_EQ(RunStoreSeed(StoreOptionsOf(FirstStoreSeed() + i), tally), "");
  }
  tally.Print(StoreRuns());
  if (StoreRuns() < 50) return;
  EXPECT_GT(tally.refused + tally.unknown, 0);
  EXPECT_GT(tally.take_overs, static_cast<int64_t>(StoreRuns()));
  EXPECT_GT(tally.continued, tally.take_overs / 4);
}

// Without faults, the first controller leads throughout.
TEST(StoreSimulationTest, WithoutFaultsOneTermIsEnough) {
  StoreTally tally;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    StoreClusterOptions options;
    options.seed = seed;
    options.controllers = 3;
    ASSERT_EQ(RunStoreSeed(options, tally), "");
  }
  EXPECT_EQ(tally.take_overs, 5);
  EXPECT_EQ(tally.unknown + tally.refused, 0);
}

// An older copy replaces the database. Acknowledged requests may be lost, but a term that a worker
// has seen does not return, and the state is that of the log.
TEST(StoreSimulationTest, AnOlderCopyOfTheDatabase) {
  StoreTally tally;
  for (uint64_t i = 0; i < StoreRuns() / 4; ++i) {
    StoreClusterOptions options = StoreOptionsOf(FirstStoreSeed() + i);
    options.faults.restore_copy = 0.05;
    options.faults.fill_disk = 0;
    ASSERT_EQ(RunStoreSeed(options, tally), "");
  }
  tally.Print(StoreRuns() / 4);
}

}  // namespace
}  // namespace trainyard::simulation
