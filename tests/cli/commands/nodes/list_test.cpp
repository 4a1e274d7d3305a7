// Tests `nodes` and `node list`.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NodeListTest : public CliFixture {};

TEST_F(NodeListTest, NodesSaysWhyANodeIsCordonedAndHowToLiftIt) {
  *answers().nodes.add_nodes() = CordonedNode();
  const CliResult result = Run({"nodes"});
  EXPECT_EQ(
      result.out,
      "NODE    STATE            SLOTS  DEVICES  JOBS  HEARTBEAT  REASON\n"
      "node-1  ready, cordoned    1/2  2 x cpu  17       2s ago  cordoned: bad fan (user ada)\n");
  EXPECT_THAT(result.err, HasSubstr("`trainyard node uncordon node-1`"));
  EXPECT_THAT(Run({"nodes", "-o", "csv"}).err, IsEmpty());
}

TEST_F(NodeListTest, NodesSaysWhyANodeIsLost) {
  v1::Node& node = *answers().nodes.add_nodes();
  node = ReadyNode();
  node.set_state(v1::NODE_STATE_LOST);
  node.set_state_reason("no heartbeat for 9 s");
  EXPECT_THAT(Run({"nodes"}).out, HasSubstr("  no heartbeat for 9 s\n"));
}

TEST_F(NodeListTest, NodesPrintsSlots) {
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

TEST_F(NodeListTest, TheControllersClockDecidesAges) {
  *answers().nodes.add_nodes() = ReadyNode();
  answers().nodes.set_as_of_ms(kNow);
  clock_.now = kNow + 600000;  // This machine's clock is ten minutes ahead.
  EXPECT_THAT(Run({"nodes"}).out, HasSubstr("  2s ago\n"));
}

}  // namespace
}  // namespace trainyard::cli
