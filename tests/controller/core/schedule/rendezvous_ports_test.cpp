#include "controller/core/schedule/rendezvous_ports.h"

#include <set>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

class RendezvousPortsTest : public ::testing::Test {
 protected:
  // The port that a fresh pass assigns.
  int PortOf(int64_t job, int64_t attempt, int64_t generation) const {
    return RendezvousPorts(state_, options_)
        .Find({job, attempt}, generation, 0, "10.0.0.1")
        .value();
  }

  ClusterState state_;
  CoreOptions options_;
};

TEST_F(RendezvousPortsTest, EveryGenerationGetsAPortOfTheRange) {
  for (int64_t generation = 1; generation <= 5000; ++generation) {
    const int port = PortOf(1, 1, generation);
    ASSERT_GE(port, options_.first_rendezvous_port) << generation;
    ASSERT_LE(port, options_.last_rendezvous_port) << generation;
  }
}

TEST_F(RendezvousPortsTest, NeighbouringJobsAttemptsAndGenerationsGetPortsOfTheirOwn) {
  std::set<int> ports;
  for (int64_t job = 1; job <= 3; ++job) {
    for (int64_t attempt = 1; attempt <= 3; ++attempt) {
      for (int64_t generation = 1; generation <= 3; ++generation) {
        EXPECT_TRUE(ports.insert(PortOf(job, attempt, generation)).second)
            << job << "/" << attempt << " generation " << generation;
      }
    }
  }
}

}  // namespace
}  // namespace trainyard::controller
