// Tests elastic jobs with real processes. A job that loses a node continues on the other one, and
// uses both again when the node is back. The losses are those of an undisturbed run, so every step
// had the same samples: other samples change a loss by far more than the tolerance.
#include <signal.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using ::testing::HasSubstr;

constexpr int kStepsOfElasticRun = 1'000'000;

class ElasticTest : public testing::Test {
 protected:
  ElasticTest() : cluster_(/*nodes=*/0), tokens_(cluster_.MakeTokens()) {
    RestartController();
    for (const int node : {0, 1}) cluster_.StartWorker(node);
    // An elastic job starts with what there is. Both nodes take ranks once a job has run on them.
    cluster_.StopAfter(Submit("first", "2"), 1);
  }

  void RestartController() {
    cluster_.KillController();
    // By default, a job grows only after half an hour.
    cluster_.StartController({"--growth-interval", "1"});
  }

  int64_t Submit(const std::string& name, const std::string& nodes) {
    return cluster_.Submit(
        cluster_.WriteJob(name, TinyJob(name, tokens_, 2, kStepsOfElasticRun)),
        {"--set", "resources.nodes=" + nodes, "--set", "checkpoint.every_steps=20"});
  }

  // Waits until the attempt runs. Returns the job.
  v1::Job WaitForAttempt(int64_t job_id, int number) {
    EXPECT_TRUE(Eventually(
        [&] {
          const v1::Job job = cluster_.Job(job_id);
          return job.attempts_size() == number && job.state() == v1::JOB_STATE_RUNNING;
        },
        Seconds(120)))
        << cluster_.Job(job_id).DebugString() << cluster_.DaemonLogs();
    return cluster_.Job(job_id);
  }

  // Simulates the loss of the machine of node 1.
  void LoseNode(int64_t job_id) {
    const pid_t pid = cluster_.RankPid(job_id, 1, 1);
    ASSERT_GT(pid, 0);
    cluster_.KillWorker(1);
    kill(pid, SIGKILL);
  }

  MiniCluster cluster_;
  const std::string tokens_;
};

// The controller is killed when the node is lost, and again while the job saves before it grows.
TEST_F(ElasticTest, AJobShrinksAndGrowsWithTheLossesOfAnUndisturbedRun) {
  const int64_t job_id = Submit("elastic", "1..2");
  ASSERT_TRUE(cluster_.WaitForCheckpoint(job_id, 20)) << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.Job(job_id).attempts(0).layout().nodes(), 2);

  LoseNode(job_id);
  RestartController();
  v1::Job job = WaitForAttempt(job_id, 2);
  ASSERT_EQ(job.attempts_size(), 2);
  EXPECT_EQ(job.attempts(1).layout().nodes(), 1);
  EXPECT_EQ(job.attempts(1).size_change(), "shrunk from 2 to 1 node: node node1 is lost");
  const int64_t shrunk_at = job.attempts(1).resume_step();
  EXPECT_GE(shrunk_at, 20);
  EXPECT_THAT(cluster_.Cli({"describe", "elastic"}).output, HasSubstr("1 of 1..2 nodes x 1 cpu"));
  ASSERT_TRUE(cluster_.WaitForStep(job_id, shrunk_at + 20)) << cluster_.DaemonLogs();

  cluster_.StartWorker(1);
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(job_id).attempts(1).has_yield(); }, Seconds(60)))
      << cluster_.DaemonLogs();
  RestartController();
  job = WaitForAttempt(job_id, 3);
  ASSERT_EQ(job.attempts_size(), 3);
  EXPECT_EQ(job.attempts(1).yield().cause(), v1::YIELD_CAUSE_GROW);
  EXPECT_EQ(job.attempts(2).layout().nodes(), 2);
  EXPECT_THAT(job.attempts(2).size_change(), HasSubstr("grown from 1 to 2 nodes: "));
  const int64_t grown_at = job.attempts(2).resume_step();
  EXPECT_EQ(grown_at, job.attempts(1).last_step()) << "a job that grows saves first";
  EXPECT_EQ(job.restarts(), 1) << "only the loss counts";
  EXPECT_THAT(cluster_.Cli({"describe", "elastic"}).output, HasSubstr("grown from 1 to 2 nodes: "));
  cluster_.StopAfter(job_id, grown_at + 20);

  const int64_t last = grown_at + 20;
  const auto losses = cluster_.Series(job_id, "loss");
  const int64_t reference = Submit("reference", "2");
  cluster_.StopAfter(reference, last);
  const auto expected = cluster_.Series(reference, "loss");
  for (int64_t step = 1; step <= last; ++step) {
    ASSERT_TRUE(losses.contains(step) && expected.contains(step)) << step;
    EXPECT_NEAR(losses.at(step), expected.at(step), 1e-5 * expected.at(step)) << "step " << step;
  }
}

}  // namespace
}  // namespace trainyard::test
