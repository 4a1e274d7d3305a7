// Tests `topology show` and `topology set`.
#include <fstream>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class TopologyCommandTest : public CliFixture {
 protected:
  TopologyCommandTest() {
    v1::GetTopologyResponse& topology = answers().topology;
    v1::GroupState& spine = *topology.add_groups();
    spine.set_name("spine1");
    spine.set_level("spine");
    spine.set_nodes(3);
    spine.set_open_nodes(2);
    v1::GroupState& leaf = *topology.add_groups();
    leaf.set_name("leaf1");
    leaf.set_level("leaf");
    leaf.set_parent("spine1");
    leaf.set_nodes(2);
    leaf.set_open_nodes(2);
    leaf.set_idle_nodes(1);
    topology.add_absent_nodes("gpu09");
    topology.add_other_nodes("old1");
  }
};

TEST_F(TopologyCommandTest, ShowsTheTreeAndNodesOutsideOfIt) {
  const CliResult result = Run({"topology", "show"});
  EXPECT_EQ(result.out,
            "GROUP    LEVEL  PARENT  NODES  OPEN  IDLE\n"
            "spine1   spine              3     2     0\n"
            "  leaf1  leaf   spine1      2     2     1\n");
  EXPECT_THAT(result.err, HasSubstr("have not joined: gpu09"));
  EXPECT_THAT(result.err, HasSubstr("nodes in no group: old1"));
  EXPECT_EQ(Run({"topology", "show", "-o", "name"}).out, "spine1\nleaf1\n");
  EXPECT_EQ(nlohmann::json::parse(Run({"topology", "show", "-o", "json"}).out)[1]["parent"],
            "spine1");
  v1::TopologyLevel& level = *answers().topology.add_level_figures();
  level.set_name("spine");
  EXPECT_EQ(Run({"topology", "show"}).err.find("level spine"), std::string::npos);
  level.set_gpu_bandwidth(12.5e9);
  level.set_latency_seconds(20e-6);
  EXPECT_THAT(Run({"topology", "show"}).err,
              HasSubstr("level spine, 12.5 GB/s per GPU, 20 us per hop"));
  answers().topology.Clear();
  EXPECT_THAT(Run({"topology", "show"}).err, HasSubstr("no topology; set one with"));
}

TEST_F(TopologyCommandTest, SetsTheTopologyOfAFile) {
  const TemporaryDirectory directory;
  const std::string file = directory.File("topology.yaml");
  std::ofstream(file) << "groups:\n- {name: leaf1, level: leaf, nodes: \"gpu[1-2]\"}\n";
  const CliResult result = Run({"topology", "set", file});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  ASSERT_EQ(answers().topology_settings.size(), 1U);
  EXPECT_EQ(answers().topology_settings[0].user(), "ada");
  EXPECT_EQ(answers().topology_settings[0].topology().groups(0).nodes(0), "gpu[1-2]");
  EXPECT_THAT(result.err, HasSubstr("job 17 (tiny) requires one group of the level leaf"));
  std::ofstream(file) << "groups: 3\n";
  EXPECT_THAT(Run({"topology", "set", file}).err,
              HasSubstr("topology.yaml: line 1: `groups` is not"));
  EXPECT_THAT(Run({"topology", "set", directory.File("none")}).err, HasSubstr("cannot be opened"));
  EXPECT_EQ(answers().topology_settings.size(), 1U);
}

}  // namespace
}  // namespace trainyard::cli
