#include "controller/core/state/attempts/gang_request.h"

#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

TEST(GangRequestTest, AJobWithAGivenLayoutAcceptsOneNumberOfNodes) {
  const GangRequest request = GangRequestOf(TestSpec("job", 3, 2));
  EXPECT_EQ(request.min_nodes, 3);
  EXPECT_EQ(request.nodes, 3);
  EXPECT_EQ(request.max_nodes, 3);
  EXPECT_EQ(request.slots_per_node, 2);
  EXPECT_EQ(request.kind, v1::DEVICE_KIND_CPU);
  EXPECT_FALSE(request.auto_layout);
}

TEST(GangRequestTest, SparesAreNodesBesidesThoseThatTrain) {
  const GangRequest request = GangRequestOf(SparesSpec("job", 3, 2, 1));
  EXPECT_EQ(request.min_nodes, 3);
  EXPECT_EQ(request.Spares(), 1);
  EXPECT_EQ(request.Full().nodes, 4);
  EXPECT_EQ(request.WithoutSpares().nodes, 3);
  EXPECT_EQ(request.WithoutSpares().slots_per_node, 2);
  EXPECT_EQ(request.WithoutSpares().kind, v1::DEVICE_KIND_CPU);
}

TEST(GangRequestTest, AJobWithAutoLayoutMayContinueOnOneNode) {
  const GangRequest request = GangRequestOf(AutoSpec("job", 3, 2));
  EXPECT_TRUE(request.auto_layout);
  EXPECT_EQ(request.min_nodes, 1);
  EXPECT_EQ(request.Full().nodes, 3);
}

}  // namespace
}  // namespace trainyard::controller
