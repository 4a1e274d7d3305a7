// A gang on two nodes. Tests set the progress that the ranks report.
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_HEALTH_PEER_PROGRESS_FIXTURE_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_HEALTH_PEER_PROGRESS_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "controller/core/health/node_evidence.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {

// Restarts the controller, which loses its observations.
inline void RestartController(TestCluster& cluster) {
  cluster.observations = Observations{};
  cluster.observations.since_ms = cluster.now;
}

// A gang on nodes a and b.
class PeerProgressTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cluster_.AddNode("a", 1);
    cluster_.AddNode("b", 1);
    job_ = cluster_.Submit("job", 2, 1);
    cluster_.RunJob(job_);
  }

  // Returns the report about `rank` in each heartbeat of its worker.
  v1::RankReport& Report(int rank) {
    v1::AttemptReport& report = cluster_.Report(rank == 0 ? "a" : "b", job_);
    if (report.ranks().empty()) {
      report.add_ranks()->set_rank(rank);
      report.mutable_ranks(0)->set_running(true);
    }
    return *report.mutable_ranks(0);
  }

  void Step(int rank, double step_seconds) {
    cluster_.Step(job_, rank, ++step_, step_seconds);
    Report(rank).set_step(step_);
  }

  // Makes `rank` report a step every half second for `ms` milliseconds. `step_seconds` is the
  // reported step time.
  void Train(int rank, int64_t ms, double step_seconds = 0.5) {
    for (int64_t i = 0; i < ms / 500; ++i) {
      Step(rank, step_seconds);
      cluster_.Pass(500);
    }
  }

  void Enter(int rank, const std::string& phase) {
    Report(rank).set_phase(phase);
    cluster_.Pass(500);
  }

  PeerProgress AboutNode(const std::string& id) {
    return PeerProgressOf(cluster_.state, cluster_.observations, cluster_.options,
                          cluster_.state.jobs.at(job_), id, cluster_.now);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
  int64_t step_ = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_HEALTH_PEER_PROGRESS_FIXTURE_H_
