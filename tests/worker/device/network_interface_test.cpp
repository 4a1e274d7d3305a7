#include "worker/device/network_interface.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

namespace trainyard::worker {
namespace {

TEST(NetworkInterfaceTest, LoopbackAddressesAreOfTheLoopbackInterface) {
  EXPECT_EQ(InterfaceOf("127.0.0.1"), "lo");
  EXPECT_EQ(InterfaceOf("127.0.1.1"), "lo") << "the address of Debian's host name";
  EXPECT_EQ(InterfaceOf("localhost"), "lo");
}

TEST(NetworkInterfaceTest, EachAddressOfThisMachineIsFound) {
  ifaddrs* interfaces = nullptr;
  ASSERT_EQ(getifaddrs(&interfaces), 0);
  for (const ifaddrs* one = interfaces; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = {};
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, text,
              sizeof text);
    const std::string name = InterfaceOf(text);
    EXPECT_NE(if_nametoindex(name.c_str()), 0u) << text << " has interface " << name;
    EXPECT_EQ(std::string(one->ifa_name).rfind(name, 0), 0u) << text;
  }
  freeifaddrs(interfaces);
}

TEST(NetworkInterfaceTest, OtherAddressesHaveNoInterface) {
  EXPECT_EQ(InterfaceOf("192.0.2.1"), "") << "reserved for documentation";
  EXPECT_EQ(InterfaceOf(""), "");
  EXPECT_EQ(InterfaceOf("no such host"), "");
}

}  // namespace
}  // namespace trainyard::worker
