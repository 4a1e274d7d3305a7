// Tests a node whose data disk hangs. The node becomes suspect, reports the cause, and recovers
// automatically.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/hung_file_system.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class HungDiskTest : public testing::Test {
 protected:
  int64_t Submit(const std::string& name, const std::string& script) {
    return cluster_.Submit(cluster_.WriteJob(
        name, absl::StrCat("name: ", name, "\nresources: {device: cpu}\nrestart: {backoff: 0}\n",
                           "command: [/bin/sh, -c, '", script, "']\n")));
  }
  v1::Node Node() const { return cluster_.Nodes()["node0"]; }

  MiniCluster cluster_{1, /*slots_per_node=*/2};
};

TEST_F(HungDiskTest, TheNodeReportsTheCauseAndRecovers) {
  const int64_t trains = Submit("trains", "exec sleep 1000");
  ASSERT_TRUE(Eventually([&] { return cluster_.RankPid(trains, 1, 0) > 0; }));

  auto hung = std::make_unique<HungFileSystem>(cluster_.directory() + "/worker0/attempts");
  if (!hung->mounted()) GTEST_SKIP() << HungFileSystem::kSkipped;
  // This job cannot start yet, because the worker's mkdir blocks.
  const int64_t waits = Submit("waits", "exit 0");
  ASSERT_TRUE(Eventually([&] { return Node().has_health(); }, Seconds(20)))
      << cluster_.DaemonLogs();
  EXPECT_THAT(Node().health().reason(),
              AllOf(HasSubstr("its worker is blocked"), HasSubstr("/worker0; check that disk")));
  EXPECT_EQ(Node().state(), v1::NODE_STATE_SUSPECT) << "stalled peers may show that it is lost";
  EXPECT_THAT(cluster_.Cli({"nodes"}).output, HasSubstr("its worker is blocked"));

  hung = nullptr;
  EXPECT_TRUE(Eventually([&] { return !Node().has_health(); }, Seconds(30)))
      << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.WaitForEnd(waits, Seconds(60)).state(), v1::JOB_STATE_SUCCEEDED)
      << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.Job(trains).attempts_size(), 1) << "nothing was restarted";
  EXPECT_EQ(cluster_.Cli({"kill", "-y", std::to_string(trains)}).exit_code, 0);
  EXPECT_EQ(cluster_.WaitForEnd(trains).state(), v1::JOB_STATE_STOPPED);
}

}  // namespace
}  // namespace trainyard::test
