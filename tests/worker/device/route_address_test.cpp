#include "worker/device/route_address.h"

#include "gtest/gtest.h"

namespace trainyard::worker {
namespace {

TEST(RouteAddressTest, LoopbackIsReachedFromLoopback) {
  EXPECT_EQ(AddressOfRouteTo("127.0.0.1:7070").value_or("?"), "127.0.0.1");
  EXPECT_EQ(AddressOfRouteTo("127.0.0.5:1").value_or("?").substr(0, 4), "127.");
}

TEST(RouteAddressTest, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "host", ":7070", "host:", "host:0", "host:65536", "host:x", "::1:70",
                           "[::1]", "[]:7070"}) {
    EXPECT_EQ(AddressOfRouteTo(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

// The name exceeds the maximum length, so no name server is queried.
TEST(RouteAddressTest, UnknownHostIsNotFound) {
  std::string target(300, 'a');
  target += ":7070";
  const absl::Status status = AddressOfRouteTo(target).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
}

}  // namespace
}  // namespace trainyard::worker
