// Tests `node describe`.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NodeDescribeTest : public CliFixture {};

TEST_F(NodeDescribeTest, NodesSaysWhyANodeIsUnhealthyAndWhenItIsTriedAgain) {
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
                             "of /data has 1.0 MiB free; retry in 20s\n"));
  EXPECT_THAT(out, HasSubstr("  Disk        "));
}

TEST_F(NodeDescribeTest, NodeDescribeShowsAllOfOneNode) {
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

TEST_F(NodeDescribeTest, LabelsAreShownInOrder) {
  v1::Node& node = *answers().nodes.add_nodes();
  node = ReadyNode();
  EXPECT_THAT(Run({"node", "describe", "node-1"}).out, HasSubstr("  Labels      -\n"));
  (*node.mutable_labels())["rack"] = "r7";
  (*node.mutable_labels())["pool"] = "a";
  EXPECT_THAT(Run({"node", "describe", "node-1"}).out,
              HasSubstr("  Labels      pool=a, rack=r7\n"));
  EXPECT_THAT(Run({"nodes", "-o", "wide"}).out, HasSubstr("pool=a, rack=r7  -\n"));
  EXPECT_THAT(Run({"nodes", "-o", "csv"}).out, HasSubstr(",LABELS,GROUPS\n"));
}

TEST_F(NodeDescribeTest, ANameOfTwoNodesIsNotGuessed) {
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

TEST_F(NodeDescribeTest, AnIdComesBeforeANameOfAnotherNode) {
  *answers().nodes.add_nodes() = ReadyNode();
  *answers().nodes.add_nodes() = ReadyNode();
  answers().nodes.mutable_nodes(0)->set_name("id-b");
  answers().nodes.mutable_nodes(1)->set_id("id-b");
  EXPECT_THAT(Run({"node", "describe", "id-b"}).out, HasSubstr("  Id          id-b\n"));
}

TEST_F(NodeDescribeTest, TheControllersClockDecidesAges) {
  *answers().nodes.add_nodes() = ReadyNode();
  answers().nodes.set_as_of_ms(kNow);
  clock_.now = kNow + 600000;  // This machine's clock is ten minutes ahead.
  EXPECT_THAT(Run({"node", "describe", "node-1"}).out, HasSubstr("2s ago"));
}

}  // namespace
}  // namespace trainyard::cli
