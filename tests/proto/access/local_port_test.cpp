#include "proto/access/local_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/access/socket_question.h"
#include "proto/access/socket_table.h"
#include "proto/contract/unique_fd.h"

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uid_t kStranger = 65534;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = sizeof bytes;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
};

Address AddressOf(const HostAndPort& where) {
  Address address;
  sockaddr_in four{.sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(where.port))};
  sockaddr_in6 six{.sin6_family = AF_INET6, .sin6_port = four.sin_port};
  if (inet_pton(AF_INET, where.host.c_str(), &four.sin_addr) == 1) {
    std::memcpy(&address.bytes, &four, address.size = sizeof four);
  } else {
    EXPECT_EQ(inet_pton(AF_INET6, where.host.c_str(), &six.sin6_addr), 1) << where.host;
    std::memcpy(&address.bytes, &six, address.size = sizeof six);
  }
  return address;
}

int PortOf(const UniqueFd& fd) {
  Address address;
  EXPECT_EQ(getsockname(fd.get(), address.get(), &address.size), 0);
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address.bytes)->sin_port);
}

UniqueFd SocketFor(const HostAndPort& where, uid_t uid) {
  const uid_t own = geteuid();
  EXPECT_EQ(seteuid(uid), 0);
  UniqueFd fd(socket(AddressOf(where).get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(seteuid(own), 0);
  return fd;
}

// A listener at this address; port 0: at a free one.
UniqueFd Listen(const HostAndPort& where, uid_t uid = geteuid(), const char* device = nullptr) {
  UniqueFd fd = SocketFor(where, uid);
  if (device != nullptr) {
    EXPECT_EQ(setsockopt(fd.get(), SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device)), 0);
  }
  Address address = AddressOf(where);
  EXPECT_EQ(bind(fd.get(), address.get(), address.size), 0);
  EXPECT_EQ(listen(fd.get(), 8), 0);
  return fd;
}

// A connection to `where`, from this port of 127.0.0.1 where one is given, at which several
// connections can be.
UniqueFd Connect(const HostAndPort& where, uid_t uid = geteuid(), int port = 0) {
  UniqueFd fd = SocketFor(where, uid);
  if (port != 0) {
    const int yes = 1;
    EXPECT_EQ(setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);
    Address near = AddressOf({"127.0.0.1", port});
    EXPECT_EQ(bind(fd.get(), near.get(), near.size), 0);
  }
  Address address = AddressOf(where);
  EXPECT_EQ(connect(fd.get(), address.get(), address.size), 0);
  return fd;
}

TEST(LocalPortTest, TheKernelKnowsTheOwner) {
  const UniqueFd listener = Listen({"127.0.0.1"});
  const int port = PortOf(listener);
  for (const char* host : {"127.0.0.1", "localhost", "::ffff:127.0.0.1"}) {
    EXPECT_THAT(OwnersOfListener(host, port), ElementsAre(getuid())) << host;
  }
  const UniqueFd client = Connect({"127.0.0.1", port});
  const HostAndPort near{"127.0.0.1", PortOf(client)};
  for (const char* host : {"127.0.0.1", "localhost", "0.0.0.0", "::"}) {
    EXPECT_EQ(OwnerOfConnection(near, {host, port}), getuid()) << host;
    EXPECT_EQ(OwnerOfConnection(near, {host, port + 1}), std::nullopt) << host;
  }
  EXPECT_THAT(OwnersOfListener("127.0.0.1", near.port), IsEmpty());
  EXPECT_EQ(UserName(0), "root");
}

TEST(LocalPortTest, AListenerAtEveryAddressTakesConnectionsToEach) {
  const UniqueFd listener = Listen({"0.0.0.0"});
  for (const char* host : {"127.0.0.1", "127.0.0.2", "localhost"}) {
    EXPECT_THAT(OwnersOfListener(host, PortOf(listener)), ElementsAre(getuid())) << host;
  }
}

// Another user who listens at 127.0.0.2 has nothing to do with 127.0.0.1.
TEST(LocalPortTest, ListenersAtOtherAddressesDoNotCount) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to listen as another user";
  const UniqueFd ours = Listen({"127.0.0.1"});
  const UniqueFd theirs = Listen({"127.0.0.2", PortOf(ours)}, kStranger);
  EXPECT_THAT(OwnersOfListener("127.0.0.1", PortOf(ours)), ElementsAre(0));
  EXPECT_THAT(OwnersOfListener("127.0.0.2", PortOf(ours)), ElementsAre(kStranger));
  EXPECT_THAT(OwnersOfListener("127.0.0.3", PortOf(ours)), IsEmpty());
}

TEST(LocalPortTest, AListenerOfTheLoopbackDeviceIsFound) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to listen as another user";
  const UniqueFd theirs = Listen({"127.0.0.1"}, kStranger, "lo");
  EXPECT_THAT(OwnersOfListener("127.0.0.1", PortOf(theirs)), ElementsAre(kStranger));
}

// From one port, another user may connect to another address of this machine: whoever listens at
// every address must not take the one for the other.
TEST(LocalPortTest, ConnectionsFromOnePortAreToldApart) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to connect as another user";
  const UniqueFd listener = Listen({"0.0.0.0"});
  const int port = PortOf(listener);
  const int near = PortOf(Listen({"127.0.0.1"}));  // A free one.
  const UniqueFd ours = Connect({"127.0.0.1", port}, 0, near);
  const UniqueFd theirs = Connect({"127.0.0.2", port}, kStranger, near);
  EXPECT_EQ(OwnerOfConnection({"127.0.0.1", near}, {"127.0.0.1", port}), 0u);
  EXPECT_EQ(OwnerOfConnection({"127.0.0.1", near}, {"127.0.0.2", port}), kStranger);
  EXPECT_EQ(OwnerOfConnection({"127.0.0.1", near}, {"0.0.0.0", port}), std::nullopt);
}

// The table gives the same users where the kernel does not answer.
TEST(LocalPortTest, TheTableGivesWhatTheKernelAnswers) {
  ASSERT_TRUE(KernelAnswersAboutSockets());
  for (const char* host : {"127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"}) {
    const UniqueFd listener = Listen({host});
    const int port = PortOf(listener);
    for (const char* to : {"127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"}) {
      const std::optional<uid_t> asked = AskForListener({to, port});
      if (!asked.has_value()) continue;
      EXPECT_EQ(*asked, geteuid()) << host << " from " << to;
      EXPECT_THAT(ListenersInTable({to, port}), ElementsAre(geteuid())) << host << " from " << to;
      const UniqueFd client = Connect({to, port});
      const int near = PortOf(client);
      const std::string from = to == std::string("127.0.0.2") ? "127.0.0.1" : to;
      EXPECT_EQ(AskForConnection({from, near}, {to, port}), geteuid()) << host << " from " << to;
      EXPECT_THAT(ConnectionsInTable(near, port), ElementsAre(geteuid())) << host << " " << to;
    }
  }
}

}  // namespace
}  // namespace trainyard
