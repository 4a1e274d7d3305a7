// nodes, node describe, node cordon and uncordon, and server status.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ClusterTest : public CliFixture {};

TEST_F(ClusterTest, NodeCordonTellsTheControllerWhoAndWhy) {
  const std::vector<v1::CordonNodeRequest>& requests = answers().cordon_requests;
  EXPECT_THAT(Run({"node", "cordon", "gpu05", "--reason", "ECC errors"}).out,
              HasSubstr("node gpu05 cordoned"));
  EXPECT_THAT(Run({"node", "cordon", "gpu05"}).err, HasSubstr("trainyard node uncordon gpu05"));
  EXPECT_THAT(Run({"node", "uncordon", "gpu05"}).out, HasSubstr("node gpu05 takes ranks again"));
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_TRUE(requests[0].cordoned());
  EXPECT_EQ(requests[0].reason(), "ECC errors");
  EXPECT_EQ(requests[0].user(), "ada");
  EXPECT_FALSE(requests[2].cordoned());
}

v1::Node ReadyNode() {
  v1::Node node;
  node.set_id("id-a");
  node.set_name("node-1");
  node.set_state(v1::NODE_STATE_READY);
  node.set_address("10.0.0.1");
  node.set_last_heartbeat_ms(kNow - 2000);
  for (int i = 0; i < 2; ++i) {
    v1::Slot& slot = *node.mutable_inventory()->add_slots();
    slot.set_index(i);
    slot.set_model("cpu");
    node.add_slot_uses()->set_job_id(i == 0 ? 17 : 0);
  }
  return node;
}

v1::Node CordonedNode() {
  v1::Node node = ReadyNode();
  node.set_cordoned(true);
  node.set_cordon_reason("bad fan (user ada)");
  return node;
}

TEST_F(ClusterTest, NodesSaysWhyANodeIsCordonedAndHowToLiftIt) {
  *answers().nodes.add_nodes() = CordonedNode();
  const CliResult result = Run({"nodes"});
  EXPECT_EQ(
      result.out,
      "NODE    STATE            SLOTS  DEVICES  JOBS  HEARTBEAT  REASON\n"
      "node-1  ready, cordoned    1/2  2 x cpu  17       2s ago  cordoned: bad fan (user ada)\n");
  EXPECT_THAT(result.err, HasSubstr("`trainyard node uncordon node-1`"));
  EXPECT_THAT(Run({"nodes", "-o", "csv"}).err, IsEmpty());
}

TEST_F(ClusterTest, NodesSaysWhyANodeIsUnhealthyAndWhenItIsTriedAgain) {
  v1::Node& node = *answers().nodes.add_nodes();
  node = ReadyNode();
  node.mutable_health()->set_reason("could not start rank 0 of job 3 (x): disk full");
  node.mutable_health()->set_reported("the disk of /data has 1.0 MiB free");
  node.mutable_health()->set_retry_not_before_ms(kNow + 20'000);
  node.set_disk_bytes(int64_t{10} << 30);
  node.set_disk_free_bytes(1 << 20);
  const std::string out = Run({"node", "describe", "node-1"}).out;
  EXPECT_THAT(out, HasSubstr("  State       ready, unhealthy\n"));
  EXPECT_THAT(out, HasSubstr("unhealthy: could not start rank 0 of job 3 (x): disk full; the disk "
                             "of /data has 1.0 MiB free; tried again in 20s\n"));
  EXPECT_THAT(out, HasSubstr("  Disk        "));
}

TEST_F(ClusterTest, NodesSaysWhyANodeIsLost) {
  v1::Node& node = *answers().nodes.add_nodes();
  node = ReadyNode();
  node.set_state(v1::NODE_STATE_LOST);
  node.set_state_reason("no heartbeat for 9 s");
  EXPECT_THAT(Run({"nodes"}).out, HasSubstr("  no heartbeat for 9 s\n"));
}

TEST_F(ClusterTest, NodeDescribeShowsAllOfOneNode) {
  *answers().nodes.add_nodes() = CordonedNode();
  (*answers().nodes.mutable_job_names())[17] = "tiny";
  for (const char* name : {"node-1", "id-a"}) {
    const std::string out = Run({"node", "describe", name}).out;
    EXPECT_THAT(out, HasSubstr("Node node-1\n  Id          id-a\n"));
    EXPECT_THAT(out, HasSubstr("  Reason      cordoned: bad fan (user ada)\n"));
    EXPECT_THAT(out, HasSubstr("  Try         `trainyard node uncordon node-1`\n"));
    EXPECT_THAT(out, HasSubstr("  Memory      -\n"));
    EXPECT_THAT(out, HasSubstr("  0  cpu  job 17 (tiny), rank 0\n  1  cpu  free\n"));
  }
  EXPECT_EQ(nlohmann::json::parse(Run({"node", "describe", "node-1", "-o", "json"}).out)["name"],
            "node-1");
  const CliResult typo = Run({"node", "describe", "node-9"});
  EXPECT_EQ(typo.exit_code, 3);
  EXPECT_THAT(typo.err, HasSubstr("there is no node `node-9`"));
}

TEST_F(ClusterTest, NodesPrintsSlots) {
  *answers().nodes.add_nodes() = ReadyNode();
  EXPECT_EQ(Run({"nodes"}).out,
            "NODE    STATE  SLOTS  DEVICES  JOBS  HEARTBEAT  REASON\n"
            "node-1  ready    1/2  2 x cpu  17       2s ago\n");
  EXPECT_EQ(Run({"nodes", "-o", "name"}).out, "node-1\n");
  EXPECT_THAT(Run({"nodes", "-o", "wide"}).out,
              HasSubstr("10.0.0.1      -       -  -        id-a"));
  const nlohmann::json node = nlohmann::json::parse(Run({"nodes", "-o", "json"}).out)[0];
  EXPECT_EQ(node["last_heartbeat"], "2026-11-21T11:59:58.000Z");
  EXPECT_EQ(node["inventory"]["memory_bytes"], nullptr);
}

TEST_F(ClusterTest, ServerStatus) {
  answers().server.set_version("0.1.0");
  answers().server.set_data_dir("/var/lib/trainyard");
  answers().server.set_started_time_ms(kNow - 60000);
  const CliResult result = Run({"server", "status"});
  EXPECT_THAT(result.out, HasSubstr("  version      0.1.0\n  up           1m00s\n"));
  EXPECT_EQ(nlohmann::json::parse(Run({"server", "-o", "json"}).out)["data_dir"],
            "/var/lib/trainyard");
}

TEST_F(ClusterTest, ANameOfTwoNodesIsNotGuessed) {
  *answers().nodes.add_nodes() = ReadyNode();
  *answers().nodes.add_nodes() = ReadyNode();
  answers().nodes.mutable_nodes(1)->set_id("id-b");
  const CliResult name = Run({"node", "describe", "node-1"});
  EXPECT_EQ(name.exit_code, 2);
  EXPECT_THAT(name.out, IsEmpty());
  EXPECT_THAT(name.err,
              HasSubstr("several nodes are called `node-1`; use the id of one: id-a, id-b"));
  EXPECT_THAT(Run({"node", "describe", "id-b"}).out, HasSubstr("  Id          id-b\n"));
}

TEST_F(ClusterTest, AnIdComesBeforeANameOfAnotherNode) {
  *answers().nodes.add_nodes() = ReadyNode();
  *answers().nodes.add_nodes() = ReadyNode();
  answers().nodes.mutable_nodes(0)->set_name("id-b");
  answers().nodes.mutable_nodes(1)->set_id("id-b");
  EXPECT_THAT(Run({"node", "describe", "id-b"}).out, HasSubstr("  Id          id-b\n"));
}

TEST_F(ClusterTest, TheControllersClockDecidesAges) {
  *answers().nodes.add_nodes() = ReadyNode();
  answers().nodes.set_as_of_ms(kNow);
  answers().server.set_started_time_ms(kNow - 60000);
  answers().server.set_as_of_ms(kNow);
  answers().server.add_storage_problems()->set_since_ms(kNow - 5000);
  clock_.now = kNow + 600000;  // Of this machine: ten minutes ahead.
  EXPECT_THAT(Run({"nodes"}).out, HasSubstr("  2s ago\n"));
  EXPECT_THAT(Run({"node", "describe", "node-1"}).out, HasSubstr("2s ago"));
  EXPECT_THAT(Run({"server", "status"}).out, HasSubstr("  up           1m00s\n"));
  EXPECT_THAT(Run({"server", "status"}).out, HasSubstr(" since 5s: "));
}

}  // namespace
}  // namespace trainyard::cli
