#include "controller/core/schedule/rendezvous_ports.h"

#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;

class RendezvousPortsTest : public ::testing::Test {
 protected:
  // Returns the port that a new pass assigns to this attempt and generation.
  int PortOf(int64_t job, int64_t attempt, int64_t generation) const {
    return RendezvousPorts(state_, options_)
        .Find({job, attempt}, generation, 0, "10.0.0.1")
        .value();
  }

  // Returns the ports that one pass assigns to `requests` equal requests. A port is -1 if none was
  // free.
  std::vector<int> Assign(int requests, int just_used = 0) const {
    RendezvousPorts ports(state_, options_);
    std::vector<int> assigned;
    for (int i = 0; i < requests; ++i) {
      assigned.push_back(ports.Find({1, 1}, 1, just_used, "10.0.0.1").value_or(-1));
    }
    return assigned;
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

TEST_F(RendezvousPortsTest, GenerationsAreFivePortsApart) {
  EXPECT_EQ(PortOf(1, 1, 2), PortOf(1, 1, 1) + 5);
}

TEST_F(RendezvousPortsTest, TheNextFreePortFollowsAndTheRangeWrapsAround) {
  options_.last_rendezvous_port = options_.first_rendezvous_port + 2;
  EXPECT_THAT(Assign(4), ElementsAre(20001, 20002, 20000, -1));
}

TEST_F(RendezvousPortsTest, OfTwoPortsTheOneThatWasJustUsedIsLeftOut) {
  options_.last_rendezvous_port = options_.first_rendezvous_port + 1;
  EXPECT_THAT(Assign(2, 20000), ElementsAre(20001, -1));
  EXPECT_THAT(Assign(2, 20001), ElementsAre(20000, -1));
}

}  // namespace
}  // namespace trainyard::controller
