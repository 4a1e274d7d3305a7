#include "proto/access/local_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/access/secret.h"
#include "proto/contract/unique_fd.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

int PortOf(const UniqueFd& fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  EXPECT_EQ(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  return ntohs(address.sin_port);
}

TEST(LocalPortTest, SplitsAddresses) {
  EXPECT_EQ(SplitAddress("127.0.0.1:7070")->host, "127.0.0.1");
  EXPECT_EQ(SplitAddress("[::1]:7070")->host, "::1");
  EXPECT_EQ(SplitAddress("[::1]:7070")->port, 7070);
  for (const char* text : {"", "7070", "host", ":7070", "host:", "host:x", "host:70000"}) {
    EXPECT_FALSE(SplitAddress(text).has_value()) << text;
  }
}

TEST(LocalPortTest, KnowsLoopback) {
  for (const char* host : {"127.0.0.1", "127.1.2.3", "localhost", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(IsLoopback(host)) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "10.0.0.1", "example.com", "::ffff:10.0.0.1", ""}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
}

sockaddr_in AddressOf(uint32_t host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(host);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

// A listener at this address; port 0: at a free one. Of another user where `uid` is given.
UniqueFd Listen(uint32_t host, int port = 0, uid_t uid = geteuid()) {
  const uid_t own = geteuid();
  EXPECT_EQ(seteuid(uid), 0);
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = AddressOf(host, port);
  EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(listen(fd.get(), 1), 0);
  EXPECT_EQ(seteuid(own), 0);
  return fd;
}

TEST(LocalPortTest, TheKernelKnowsTheOwner) {
  const UniqueFd listener = Listen(INADDR_LOOPBACK);
  const int port = PortOf(listener);
  for (const char* host : {"127.0.0.1", "localhost", "::ffff:127.0.0.1"}) {
    EXPECT_THAT(OwnersOfListener(host, port), ElementsAre(getuid())) << host;
  }
  const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = AddressOf(INADDR_LOOPBACK, port);
  ASSERT_EQ(connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(OwnerOfConnection(PortOf(client), port), getuid());
  EXPECT_EQ(OwnerOfConnection(PortOf(client), port + 1), std::nullopt);
  EXPECT_THAT(OwnersOfListener("127.0.0.1", PortOf(client)), IsEmpty());
  EXPECT_EQ(UserName(0), "root");
}

TEST(LocalPortTest, AListenerAtEveryAddressTakesConnectionsToEach) {
  const UniqueFd listener = Listen(INADDR_ANY);
  for (const char* host : {"127.0.0.1", "127.0.0.2", "localhost"}) {
    EXPECT_THAT(OwnersOfListener(host, PortOf(listener)), ElementsAre(getuid())) << host;
  }
}

// Another user who listens at 127.0.0.2 has nothing to do with 127.0.0.1.
TEST(LocalPortTest, ListenersAtOtherAddressesDoNotCount) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to listen as another user";
  constexpr uid_t kStranger = 65534;
  const UniqueFd ours = Listen(INADDR_LOOPBACK);
  const UniqueFd theirs = Listen(INADDR_LOOPBACK + 1, PortOf(ours), kStranger);
  EXPECT_THAT(OwnersOfListener("127.0.0.1", PortOf(ours)), ElementsAre(0));
  EXPECT_THAT(OwnersOfListener("127.0.0.2", PortOf(ours)), ElementsAre(kStranger));
  EXPECT_THAT(OwnersOfListener("127.0.0.3", PortOf(ours)), IsEmpty());
}

TEST(SecretTest, HashesAreThoseOfTheStandards) {
  // FIPS 180-4 and RFC 4231, test case 2.
  EXPECT_EQ(HashOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HashOf(""), "");
  EXPECT_EQ(KeyedHashOf("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_NE(NewSecret(), NewSecret());
  EXPECT_EQ(NewSecret().size(), 64u);
  EXPECT_TRUE(SameSecret("a", "a"));
  EXPECT_FALSE(SameSecret("a", "b"));
  EXPECT_FALSE(SameSecret("a", "aa"));
}

}  // namespace
}  // namespace trainyard
