// Tests drains of nodes before maintenance.
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

class DrainTest : public testing::Test {
 protected:
  // Runs a job on two nodes until it has made some steps.
  static int64_t RunPair(MiniCluster& cluster) {
    const std::string job_file =
        cluster.WriteJob("moved", TinyJob("moved", cluster.MakeTokens(), 2, 1'000'000));
    const int64_t job_id = cluster.Submit(job_file);
    EXPECT_TRUE(cluster.WaitForStep(job_id, 30)) << cluster.DaemonLogs();
    return job_id;
  }

  static std::string NameOf(const MiniCluster& cluster, const std::string& node_id) {
    for (const auto& [name, node] : cluster.Nodes()) {
      if (node.id() == node_id) return name;
    }
    return "";
  }

  static bool IsDrained(const MiniCluster& cluster, const std::string& node) {
    return Eventually([&] { return cluster.Nodes()[node].drain().drained_ms() != 0; }, Seconds(60));
  }

  // Checks that the second attempt continues at the last step of the first attempt.
  static void ExpectNoLostStep(const v1::Job& job) {
    ASSERT_EQ(job.attempts_size(), 2) << job.DebugString();
    EXPECT_EQ(job.attempts(0).yield().cause(), v1::YIELD_CAUSE_DRAIN);
    EXPECT_EQ(job.attempts(1).resume_step(), job.attempts(0).last_step());
    EXPECT_EQ(job.restarts(), 0);
  }
};

TEST_F(DrainTest, AJobMovesToAFreeNodeWithoutALostStep) {
  MiniCluster cluster(/*nodes=*/3);
  const int64_t job_id = RunPair(cluster);
  const std::string drained = cluster.Job(job_id).attempts(0).ranks(0).node_id();
  const std::string name = NameOf(cluster, drained);
  EXPECT_THAT(cluster.Cli({"node", "drain", name, "--deadline", "30m", "--reason", "fan"}).output,
              HasSubstr("node " + name + " is draining"));
  ASSERT_TRUE(IsDrained(cluster, name)) << cluster.DaemonLogs();
  ASSERT_TRUE(Eventually([&] { return cluster.Job(job_id).attempts_size() == 2; }, Seconds(60)))
      << cluster.DaemonLogs();
  const int64_t resumed = cluster.Job(job_id).attempts(1).resume_step();
  const v1::Job job = cluster.StopAfter(job_id, resumed + 20);
  ExpectNoLostStep(job);
  std::set<std::string> nodes;
  for (const v1::RankPlacement& rank : job.attempts(1).ranks()) nodes.insert(rank.node_id());
  EXPECT_EQ(nodes.size(), 2u);
  EXPECT_FALSE(nodes.contains(drained));
  EXPECT_THAT(cluster.Cli({"nodes"}).output, HasSubstr("drained: fan"));
}

// Without a free node, the job stays until the deadline. The killed controller must not forget it.
TEST_F(DrainTest, AKilledControllerStillKeepsTheDeadline) {
  MiniCluster cluster(/*nodes=*/2);
  const int64_t job_id = RunPair(cluster);
  cluster.Cli({"node", "drain", "node0", "--deadline", "3s", "--reason", "fan"});
  cluster.KillController();
  cluster.StartController();
  ASSERT_TRUE(Eventually([&] { return cluster.Job(job_id).attempts(0).has_yield(); }, Seconds(60)))
      << cluster.DaemonLogs();
  cluster.KillController();
  cluster.StartController();
  ASSERT_TRUE(IsDrained(cluster, "node0")) << cluster.DaemonLogs();
  EXPECT_EQ(cluster.Job(job_id).state(), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(cluster.Cli({"why", "moved"}).output, HasSubstr("node0 is drained: fan"));
  cluster.Cli({"node", "undrain", "node0"});
  ASSERT_TRUE(Eventually([&] { return cluster.Job(job_id).attempts_size() == 2; }, Seconds(60)))
      << cluster.DaemonLogs();
  ExpectNoLostStep(cluster.StopAfter(job_id, cluster.Job(job_id).attempts(1).resume_step() + 20));
}

}  // namespace
}  // namespace trainyard::test
