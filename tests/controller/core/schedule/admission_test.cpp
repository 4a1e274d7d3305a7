#include "controller/core/schedule/admission.h"

#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

TEST(AdmissionTest, TheLargestShapeHasTheMostSlots) {
  TestCluster cluster;
  cluster.AddNode("a", 2);
  cluster.AddNode("b", 5);
  const auto uneven = LargestShape(cluster.state, v1::DEVICE_KIND_CPU);
  ASSERT_TRUE(uneven.has_value());
  EXPECT_EQ(uneven->nodes, 1);
  EXPECT_EQ(uneven->slots_per_node, 5);
  cluster.AddNode("c", 4);
  const auto pair = LargestShape(cluster.state, v1::DEVICE_KIND_CPU);
  ASSERT_TRUE(pair.has_value());
  EXPECT_EQ(pair->nodes, 2);
  EXPECT_EQ(pair->slots_per_node, 4);
}

}  // namespace
}  // namespace trainyard::controller
