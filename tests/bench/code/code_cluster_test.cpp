#include "tests/bench/code/code_cluster.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "proto/support/remove_tree.h"
#include "tests/fakes/temporary_directory.h"

namespace trainyard::bench {
namespace {

class CodeClusterTest : public testing::Test {
 protected:
  // Trees are read-only, so their removal needs RemoveTree.
  ~CodeClusterTest() override {
    for (int node = 0; node < 256; ++node) {
      EXPECT_TRUE(RemoveTree(directory_.File("node" + std::to_string(node))).ok());
    }
  }

  // In memory if possible: each tree is synced, and 256 syncs of a busy disk take minutes.
  TemporaryDirectory directory_{access("/dev/shm", W_OK) == 0
                                    ? std::filesystem::path("/dev/shm")
                                    : std::filesystem::temp_directory_path()};
};

TEST_F(CodeClusterTest, BlobsLeaveTheControllerAtMostThreeTimesFor256Nodes) {
  const auto report =
      RunCodeCluster({.directory = directory_.path(), .nodes = 256, .files = 20, .bytes = 200'000});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->ready_nodes, 256);
  EXPECT_GE(report->max_copies, 1);
  EXPECT_LE(report->max_copies, 3);
}

TEST_F(CodeClusterTest, NodesReplaceSourcesThatSendOtherBytesAreGoneOrNeverAnswer) {
  const auto report = RunCodeCluster(
      {.directory = directory_.path(), .nodes = 24, .files = 20, .bytes = 200'000, .bad_nodes = 6});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->ready_nodes, 24);
}

}  // namespace
}  // namespace trainyard::bench
