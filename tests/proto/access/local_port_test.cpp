#include "proto/access/local_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "gtest/gtest.h"
#include "proto/access/secret.h"
#include "proto/contract/unique_fd.h"

namespace trainyard {
namespace {

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

TEST(LocalPortTest, TheKernelKnowsTheOwner) {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  const int port = PortOf(listener);
  EXPECT_EQ(OwnerOfListener(port), getuid());
  const UniqueFd client(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  address.sin_port = htons(static_cast<uint16_t>(port));
  ASSERT_EQ(connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(OwnerOfConnection(PortOf(client), port), getuid());
  EXPECT_EQ(OwnerOfConnection(PortOf(client), port + 1), std::nullopt);
  EXPECT_EQ(OwnerOfListener(PortOf(client)), std::nullopt);
  EXPECT_EQ(UserName(0), "root");
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
