#include "cli/commands/planning/node_software.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

v1::JobSpec ContainerJob() {
  v1::JobSpec spec;
  spec.mutable_environment()->mutable_container()->set_launcher(v1::CONTAINER_LAUNCHER_APPTAINER);
  return spec;
}

void AddNode(const std::string& name, const std::string& found, v1::CheckNodesResponse& checks) {
  v1::NodeChecks& node = *checks.add_nodes();
  node.set_name(name);
  node.add_checks()->set_name("disk");
  v1::NodeCheck& check = *node.add_checks();
  check.set_name("launchers");
  check.set_found(found);
}

TEST(NodeSoftwareTest, NamesTheNodesWithoutTheLauncher) {
  v1::CheckNodesResponse checks;
  AddNode("a", "podman, apptainer", checks);
  AddNode("b", "podman", checks);
  AddNode("c", "none", checks);
  checks.add_nodes()->set_name("older");
  EXPECT_THAT(MissingLauncherText(ContainerJob(), checks),
              HasSubstr("apptainer is not installed on b, c;"));
  EXPECT_EQ(MissingLauncherText({}, checks), "") << "the job needs no launcher";
}

TEST(NodeSoftwareTest, NamesAtMostEightNodes) {
  v1::CheckNodesResponse checks;
  for (int i = 0; i < 10; ++i) AddNode(absl::StrCat("n", i), "none", checks);
  EXPECT_THAT(MissingLauncherText(ContainerJob(), checks), HasSubstr("n6, n7 and 2 more nodes;"));
}

}  // namespace
}  // namespace trainyard::cli
