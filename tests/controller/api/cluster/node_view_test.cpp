#include "controller/api/cluster/node_view.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kHourMs = 3'600'000;

TEST(NodeViewTest, AttemptsOnANodeOutliveTheirJobs) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  const int64_t ended = cluster.Submit("ended", 1, 2);
  cluster.RunJob(ended);
  cluster.ExitRank(ended, 1, 65);
  cluster.Pass(5000);
  cluster.ExitAll(ended, 143);
  cluster.ClearAll(ended);
  ASSERT_EQ(cluster.StateOf(ended), v1::JOB_STATE_FAILED);
  cluster.Pass(1000);
  const int64_t running = cluster.Submit("running", 1, 1);
  cluster.RunJob(running);
  const std::vector<v1::NodeAttempt> attempts = AttemptsOn(cluster.state, "a");
  ASSERT_EQ(attempts.size(), 2u);
  EXPECT_EQ(attempts[0].job_id(), running);
  EXPECT_EQ(attempts[0].state(), v1::ATTEMPT_STATE_RUNNING);
  EXPECT_EQ(attempts[0].ended_time_ms(), 0);
  EXPECT_FALSE(attempts[0].at_fault());
  EXPECT_EQ(attempts[1].job_name(), "ended");
  EXPECT_EQ(attempts[1].attempt(), 1);
  EXPECT_THAT(attempts[1].ranks(), ElementsAre(0, 1));
  EXPECT_EQ(attempts[1].cause(), v1::VERDICT_CAUSE_BAD_JOB);
  EXPECT_THAT(attempts[1].summary(), HasSubstr("rank 1"));
  EXPECT_TRUE(attempts[1].at_fault());
  EXPECT_NE(attempts[1].ended_time_ms(), 0);
  EXPECT_THAT(AttemptsOn(cluster.state, "b"), IsEmpty());
}

TEST(NodeViewTest, ALongHistoryHasLongerIntervals) {
  TestCluster cluster;
  v1::Node node;
  node.set_id("a");
  node.mutable_inventory()->add_slots()->set_uuid("GPU-0");
  v1::Heartbeat heartbeat;
  heartbeat.add_devices()->set_uuid("GPU-0");
  heartbeat.mutable_devices(0)->set_power_watts(100);
  DeviceRecords& records = cluster.observations.nodes["a"].devices;
  for (int i = 0; i < 24 * 60; ++i) {
    cluster.now += 60'000;
    NoteDevices(heartbeat, node.inventory(), cluster.now, records);
  }
  const std::vector<v1::DeviceHistory> day = DevicesOf(node, 24, cluster.View());
  ASSERT_EQ(day.size(), 1u);
  EXPECT_EQ(day[0].interval_ms(), 24 * kHourMs / kDeviceIntervalsMax);
  EXPECT_NEAR(day[0].time_ms_size(), kDeviceIntervalsMax, 1);
  const std::vector<v1::DeviceHistory> hour = DevicesOf(node, 1, cluster.View());
  EXPECT_EQ(hour[0].interval_ms(), 120'000);
  EXPECT_NEAR(hour[0].time_ms_size(), 30, 1);
  node.set_id("unknown");
  EXPECT_THAT(DevicesOf(node, 1, cluster.View()), IsEmpty());
}

}  // namespace
}  // namespace trainyard::controller
