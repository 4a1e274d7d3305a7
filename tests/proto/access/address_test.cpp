#include "proto/access/address.h"

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(AddressTest, SplitsAddresses) {
  EXPECT_EQ(SplitAddress("127.0.0.1:7070")->host, "127.0.0.1");
  EXPECT_EQ(SplitAddress("[::1]:7070")->host, "::1");
  EXPECT_EQ(SplitAddress("[::1]:7070")->port, 7070);
  for (const char* text : {"", "7070", "host", ":7070", "host:", "host:x", "host:70000"}) {
    EXPECT_FALSE(SplitAddress(text).has_value()) << text;
  }
}

TEST(AddressTest, KnowsLoopback) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "localhost", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "example.com", "::ffff:10.0.0.1", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

TEST(AddressTest, ANameOrEveryAddressIsNotExact) {
  for (const char* host : {"127.0.0.1", "10.0.0.1", "::1", "::ffff:10.0.0.1"}) {
    EXPECT_TRUE(IsExactAddress(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "::ffff:0.0.0.0", "localhost", ""}) {
    EXPECT_FALSE(IsExactAddress(host)) << host;
  }
}

}  // namespace
}  // namespace trainyard
