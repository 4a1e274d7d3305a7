#include "controller/access/caller.h"

#include "gtest/gtest.h"
#include "trainyard/v1/node_service.pb.h"

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

TEST(CallerTest, WithoutTheKernelsWordTheClientsCounts) {
  const Caller caller = CallerOf(std::nullopt, "ada");
  EXPECT_EQ(caller.user, "ada");
  EXPECT_FALSE(caller.verified);
  // A client cannot call itself verified.
  v1::CordonNodeRequest request;
  request.set_user("ada");
  request.set_user_verified(true);
  NameUser(std::nullopt, request);
  EXPECT_FALSE(request.user_verified());
}

TEST(CallerTest, TheKernelsUserWinsButRootMayActForAnother) {
  constexpr uid_t kNameless = 4'000'000'000;
  const Caller user = CallerOf(kNameless, "ada");
  EXPECT_EQ(user.user, "uid-4000000000");
  EXPECT_TRUE(user.verified);
  const Caller root = CallerOf(0, "");
  EXPECT_EQ(root.user, "root");
  EXPECT_TRUE(root.verified);
  const Caller for_ada = CallerOf(0, "ada");
  EXPECT_EQ(for_ada.user, "ada");
  EXPECT_FALSE(for_ada.verified);
}

}  // namespace
}  // namespace trainyard::controller
