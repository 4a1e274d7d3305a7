#include "controller/access/caller.h"

#include "gtest/gtest.h"
#include "trainyard/v1/node_service.pb.h"

namespace trainyard::controller {
namespace {

TEST(CallerTest, ReadsThePeersOfGrpc) {
  EXPECT_EQ(PeerAddress("ipv4:127.0.0.1:4711"), "127.0.0.1:4711");
  EXPECT_EQ(PeerAddress("ipv6:%5B::1%5D:4711"), "[::1]:4711");
  EXPECT_EQ(PeerAddress(""), "");
  EXPECT_TRUE(IsLocal({"[::1]:4711", {}}));
  EXPECT_FALSE(IsLocal({"10.0.0.1:4711", {}}));
  EXPECT_FALSE(IsLocal({"unix:/tmp/socket", {}}));
}

TEST(CallerTest, AnUnknownConnectionLeavesTheClientsWord) {
  for (const Connection& connection :
       {Connection{"10.0.0.1:4711", {"127.0.0.1", 7070}},
        Connection{"127.0.0.1:1", {"127.0.0.1", 2}}, Connection{}}) {
    const Caller caller = CallerOf(connection, "ada");
    EXPECT_EQ(caller.user, "ada");
    EXPECT_FALSE(caller.verified);
  }
  // A client cannot call itself verified.
  v1::CordonNodeRequest request;
  request.set_user("ada");
  request.set_user_verified(true);
  NameUser({}, request);
  EXPECT_FALSE(request.user_verified());
}

}  // namespace
}  // namespace trainyard::controller
