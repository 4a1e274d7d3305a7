#include "controller/access/caller.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(CallerTest, ReadsThePeersOfGrpc) {
  EXPECT_EQ(PeerAddress("ipv4:127.0.0.1:4711"), "127.0.0.1:4711");
  EXPECT_EQ(PeerAddress("ipv6:%5B::1%5D:4711"), "[::1]:4711");
  EXPECT_EQ(PeerAddress(""), "");
  EXPECT_TRUE(IsLocal("[::1]:4711"));
  EXPECT_FALSE(IsLocal("10.0.0.1:4711"));
  EXPECT_FALSE(IsLocal(""));
}

TEST(CallerTest, WithoutTheKernelTheClaimOfTheClientCounts) {
  const absl::StatusOr<Principal> caller = PrincipalOf(std::nullopt, "ada");
  ASSERT_TRUE(caller.ok()) << caller.status();
  EXPECT_EQ(caller->user, "ada");
  EXPECT_EQ(caller->verification, Verification::kClaim);
  EXPECT_TRUE(absl::IsInvalidArgument(PrincipalOf(std::nullopt, std::string(129, 'x')).status()));
}

TEST(CallerTest, TheKernelsUserWinsButRootMayActForAnother) {
  constexpr uid_t kNameless = 4'000'000'000;
  const Principal user = *PrincipalOf(kNameless, "ada");
  EXPECT_EQ(user.user, "uid-4000000000");
  EXPECT_EQ(user.verification, Verification::kPeerCredentials);
  const Principal root = *PrincipalOf(0, "");
  EXPECT_EQ(root.user, "root");
  EXPECT_EQ(root.verification, Verification::kPeerCredentials);
  const Principal for_ada = *PrincipalOf(0, "ada");
  EXPECT_EQ(for_ada.user, "ada");
  EXPECT_EQ(for_ada.verification, Verification::kClaim);
  EXPECT_TRUE(absl::IsInvalidArgument(PrincipalOf(0, std::string(129, 'x')).status()));
}

}  // namespace
}  // namespace trainyard::controller
