#include "controller/core/schedule/expected_ends.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "tests/controller/core/fresh_releases.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

// After each step of a test, the ends and releases of the indexes equal those computed afresh.
class ExpectedEndsTest : public ::testing::Test {
 protected:
  ExpectedEndsTest() {
    cluster_.now += 86'400'000;
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 2);
  }

  int64_t Run(const std::string& name, int nodes, int64_t limit_s) {
    v1::JobSpec spec = TestSpec(name, nodes, 1);
    spec.mutable_train()->set_steps(100);
    spec.mutable_stop_grace()->set_seconds(60);
    if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
    const int64_t job = cluster_.Submit(spec);
    cluster_.RunJob(job);
    for (const char* id : {"a", "b", "c"}) {
      if (cluster_.state.nodes.at(id).live_jobs.contains(job)) cluster_.Report(id, job);
    }
    cluster_.Pass(1000);
    return job;
  }

  void Cordon(const std::string& node, bool cordoned) {
    CordonNode cordon{.request = {}, .principal = {"ada"}};
    cordon.request.set_node(node);
    cordon.request.set_cordoned(cordoned);
    cluster_.Do(cordon);
  }

  Timestamp End(int64_t job) const {
    return ExpectedEndsOf(cluster_.state, cluster_.observations, cluster_.now)(job);
  }

  void ExpectFresh(const std::string& step) const {
    EXPECT_EQ(DifferentReleases(cluster_.state, cluster_.observations, cluster_.now), "") << step;
  }

  TestCluster cluster_;
};

TEST_F(ExpectedEndsTest, AJobWithoutALiveAttemptNeverEnds) {
  Run("runs", 1, 600);
  const int64_t waits = cluster_.Submit("waits", 3, 2);
  EXPECT_EQ(End(waits), kNever);
  EXPECT_EQ(End(waits + 1), kNever) << "an unknown job";
  ExpectFresh("a waiting job");
}

TEST_F(ExpectedEndsTest, EndsFollowLimitStepsAndStop) {
  const int64_t job = Run("job", 1, 0);
  EXPECT_EQ(End(job), cluster_.Attempt(job).placed_time_ms() + kUnknownRunMs);
  cluster_.Step(job, 0, 39, 2.0);
  cluster_.Step(job, 0, 40, 2.0);
  EXPECT_EQ(End(job), cluster_.now + 60 * 2000);
  ExpectFresh("steps");
  cluster_.now += 200'000;
  EXPECT_EQ(End(job), cluster_.now + 1) << "late";
  cluster_.Stop(job);
  EXPECT_EQ(End(job), cluster_.Attempt(job).stopping_time_ms() + 60'000);
  ExpectFresh("asked to stop");
  cluster_.Stop(job, /*kill=*/true);
  EXPECT_EQ(End(job), cluster_.now + 1);
  ExpectFresh("killed");
}

TEST_F(ExpectedEndsTest, AnExtensionMovesTheEnd) {
  const int64_t job = Run("job", 1, 600);
  const Timestamp before = End(job);
  ExtendJob extend{.request = {}, .principal = {"ada"}};
  extend.request.set_job("job");
  extend.request.mutable_by()->set_seconds(300);
  cluster_.Do(extend);
  EXPECT_EQ(End(job), before + 300'000);
  ExpectFresh("extended");
}

TEST_F(ExpectedEndsTest, AChangeOfTheClockMovesTheEnd) {
  const int64_t job = Run("job", 1, 600);
  cluster_.Step(job, 0, 39, 2.0);
  cluster_.Step(job, 0, 40, 2.0);
  const int64_t left = End(job) - cluster_.now;
  for (const int64_t step_ms : {-3'600'000, 7'200'000}) {
    cluster_.StepClock(step_ms);
    EXPECT_EQ(End(job) - cluster_.now, left) << step_ms;
    ExpectFresh("a set clock");
  }
}

TEST_F(ExpectedEndsTest, NodesFollowTheirStatesAndJobs) {
  const int64_t gang = Run("gang", 2, 600);
  const int64_t single = Run("single", 1, 300);
  ExpectFresh("two jobs");
  Cordon("a", true);
  ExpectFresh("a cordoned node");
  Cordon("a", false);
  cluster_.StopHeartbeats("b");
  for (int i = 0; i < 60; ++i) {
    cluster_.Pass(1000);
    ExpectFresh("after " + std::to_string(i + 1) + " s without a heartbeat");
  }
  cluster_.Pass(cluster_.options.lease_ms, 1000);
  ExpectFresh("after the lease");
  EXPECT_EQ(cluster_.NodeStateOf("b"), v1::NODE_STATE_LOST);
  cluster_.Wake("b");
  cluster_.OpenStream("b");
  cluster_.Pass(2000);
  ExpectFresh("after the return");
  for (const int64_t job : {gang, single}) {
    if (cluster_.state.live_jobs.contains(job)) cluster_.Stop(job);
  }
  cluster_.Pass(2000);
  ExpectFresh("stopped jobs");
  cluster_.AddNode("0", 4);
  cluster_.AddNode("bb", 1);
  ExpectFresh("new nodes before and between the others");
}

}  // namespace
}  // namespace trainyard::controller
