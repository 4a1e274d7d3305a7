// Seeds are run in a row. TRAINYARD_SIMULATION_SEED and TRAINYARD_SIMULATION_RUNS choose the first
// one and how many; see README.md.
#include <cstdlib>
#include <set>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"
#include "tests/simulation/simulated_cluster.h"

namespace trainyard::simulation {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kMinute = 60 * kSecond;

uint64_t FromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  uint64_t value = fallback;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : fallback;
}

uint64_t FirstSeed() { return FromEnvironment("TRAINYARD_SIMULATION_SEED", 1); }
uint64_t Runs() { return FromEnvironment("TRAINYARD_SIMULATION_RUNS", 150); }

struct Tally {
  int succeeded = 0;
  int attempts = 0;
  std::set<int> kinds;
};

void Count(const SimulatedCluster& cluster, Tally& tally) {
  for (const auto& [id, entry] : cluster.state().jobs) {
    tally.succeeded += entry.job.state() == v1::JOB_STATE_SUCCEEDED;
    tally.attempts += entry.job.attempts_size();
  }
  for (const v1::Event& event : cluster.log()) tally.kinds.insert(event.kind_case());
}

TEST(SimulationTest, EveryJobEndsOnceFaultsStop) {
  Tally tally;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs(); ++seed) {
    SimulatedCluster cluster(AllFaults(seed));
    cluster.RunFor(kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(30 * kMinute);
    ASSERT_EQ(cluster.failure(), "");
    Count(cluster, tally);
  }
  // The runs are worth something only if they see life: jobs that succeed, that restart, and every
  // kind of event but the trainers' alerts and removals of checkpoints.
  if (Runs() < 50) return;
  EXPECT_GT(tally.succeeded, static_cast<int>(Runs()));
  EXPECT_GT(tally.attempts, 7 * static_cast<int>(Runs()));
  EXPECT_EQ(tally.kinds.size(), 19u);
}

TEST(SimulationTest, ControlPlaneFaultsRestartNothing) {
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Runs(); ++seed) {
    SimulatedCluster cluster(ControlPlaneFaults(seed));
    cluster.RunFor(kMinute);
    cluster.StopFaults();
    cluster.RunUntilAllEnded(30 * kMinute);
    ASSERT_EQ(cluster.failure(), "");
    for (const auto& [id, entry] : cluster.state().jobs) {
      ASSERT_LE(entry.job.attempts_size(), 1) << "seed " << seed;
    }
  }
}

TEST(SimulationTest, SameSeedGivesTheSameHistory) {
  std::string histories[2];
  for (std::string& history : histories) {
    SimulatedCluster cluster(AllFaults(FirstSeed()));
    cluster.RunFor(kMinute);
    ASSERT_EQ(cluster.failure(), "");
    history = controller::Bytes(cluster.state());
  }
  EXPECT_FALSE(histories[0].empty());
  EXPECT_EQ(histories[0], histories[1]);
}

}  // namespace
}  // namespace trainyard::simulation
