#include "controller/core/support/principal.h"

#include <gtest/gtest.h>

#include <string>

#include "proto/contract/limits.h"

namespace trainyard::controller {
namespace {

TEST(PrincipalTest, ALongUserNameIsRefused) {
  const auto longest = MakePrincipal(std::string(kMaxUserBytes, 'x'), Verification::kClaim);
  ASSERT_TRUE(longest.ok()) << longest.status();
  EXPECT_EQ(longest->user.size(), kMaxUserBytes);
  EXPECT_EQ(longest->verification, Verification::kClaim);
  for (const Verification verification : {Verification::kClaim, Verification::kPeerCredentials}) {
    const absl::Status refused =
        MakePrincipal(std::string(kMaxUserBytes + 1, 'x'), verification).status();
    EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(refused.message(), "the user name is longer than 128 bytes");
  }
}

TEST(PrincipalTest, OnlyAUserNamedByTheKernelIsVerified) {
  EXPECT_TRUE(IsVerified({"ada", Verification::kPeerCredentials}));
  EXPECT_TRUE(IsVerified({"ada", Verification::kSession}));
  EXPECT_FALSE(IsVerified({"ada", Verification::kClaim}));
  EXPECT_FALSE(IsVerified(ControllerPrincipal()));
}

TEST(PrincipalTest, NamesTheActorOfItsEvents) {
  EXPECT_EQ(ActorOf({"ada", Verification::kSession}), "user ada");
  EXPECT_EQ(ActorOf({}), "user ");
  EXPECT_EQ(ActorOf(ControllerPrincipal()), "controller");
}

}  // namespace
}  // namespace trainyard::controller
