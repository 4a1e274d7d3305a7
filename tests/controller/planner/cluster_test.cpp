#include "controller/planner/cluster.h"

#include <gtest/gtest.h>

namespace trainyard::planner {
namespace {

TEST(ClusterTest, EveryDeviceOfTheContractHasAnEntry) {
  ASSERT_EQ(KnownDeviceSpecs().size(), KnownDevices().size());
  for (const DeviceRating& rating : KnownDevices()) {
    const DeviceSpec* spec = FindDeviceSpec(rating.name);
    ASSERT_NE(spec, nullptr) << rating.name;
    EXPECT_EQ(spec->rating, &rating) << rating.name;
    EXPECT_GT(spec->memory_bandwidth, 0.5e12);
    EXPECT_GT(spec->power_watts, 200);
    EXPECT_GT(spec->sustained_products, 0.5);
    EXPECT_LT(spec->sustained_products, 0.9);
    EXPECT_NE(FindNetwork(spec->network), nullptr) << rating.name;
  }
}

TEST(ClusterTest, FindsDevicesInAnyCase) {
  EXPECT_EQ(FindDeviceSpec("h200"), FindDeviceSpec("NVIDIA H200"));
  EXPECT_EQ(FindDeviceSpec("h100 pcie")->rating->name, "H100 PCIe");
  EXPECT_EQ(FindDeviceSpec("RTX 3090"), nullptr);
  EXPECT_EQ(FindDeviceSpec(""), nullptr);
}

TEST(ClusterTest, NetworksAreSlowerThanTheLinksOfTheirNodes) {
  for (const DeviceSpec& spec : KnownDeviceSpecs()) {
    EXPECT_LE(FindNetwork(spec.network)->bandwidth, spec.node_link.bandwidth);
  }
  EXPECT_EQ(FindNetwork("NDR"), FindNetwork("ndr"));
  EXPECT_EQ(FindNetwork("token ring"), nullptr);
}

}  // namespace
}  // namespace trainyard::planner
