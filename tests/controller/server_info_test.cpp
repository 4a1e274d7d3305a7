#include "controller/server_info.h"

#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

TEST(PageAddressTest, NamesTheAddressThatOtherMachinesReach) {
  EXPECT_EQ(PageAddress("10.0.0.1:7070", "10.0.0.1:7071"), "10.0.0.1:7071");
  EXPECT_EQ(PageAddress("10.0.0.1:7070", "10.1.0.1:7071"), "10.1.0.1:7071");
  EXPECT_EQ(PageAddress("ctl1:7070", "0.0.0.0:7071"), "ctl1:7071");
  EXPECT_EQ(PageAddress("[fd00::1]:7070", "[::]:7071"), "[fd00::1]:7071");
}

TEST(PageAddressTest, APageOfOneMachineHasNone) {
  EXPECT_EQ(PageAddress("10.0.0.1:7070", "127.0.0.1:7071"), "");
  EXPECT_EQ(PageAddress("10.0.0.1:7070", "off"), "");
  EXPECT_EQ(PageAddress("127.0.0.1:7070", "127.0.0.1:7071"), "127.0.0.1:7071")
      << "all controllers are on this machine";
}

}  // namespace
}  // namespace trainyard::controller
