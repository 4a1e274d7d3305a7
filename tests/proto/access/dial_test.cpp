#include "proto/access/dial.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::Contains;

steady_clock::time_point Soon() { return steady_clock::now() + milliseconds(2000); }

struct Listener {
  explicit Listener(int backlog = 8) : socket(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    EXPECT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&where), size), 0);
    EXPECT_EQ(listen(socket.get(), backlog), 0);
    EXPECT_EQ(getsockname(socket.get(), reinterpret_cast<sockaddr*>(&where), &size), 0);
    address = absl::StrCat("127.0.0.1:", ntohs(where.sin_port));
  }
  UniqueFd socket;
  std::string address;
};

TEST(DialTest, ConnectsToAListener) {
  const Listener listener;
  const auto socket = Dial(listener.address, Soon());
  ASSERT_TRUE(socket.ok()) << socket.status();
  EXPECT_TRUE(UniqueFd(accept(listener.socket.get(), nullptr, nullptr)).valid());
}

TEST(DialTest, SaysWhyItCannot) {
  std::string gone;
  { gone = Listener().address; }
  EXPECT_EQ(Dial(gone, Soon()).status(), absl::UnavailableError("Connection refused"));
  EXPECT_TRUE(absl::IsUnavailable(Dial("localhost:1", Soon()).status())) << "a name";
}

TEST(DialTest, WaitsNoLongerThanItMay) {
  // The backlog of this listener is full, so the kernel accepts no further connection.
  const Listener listener(0);
  const auto first = Dial(listener.address, Soon());
  ASSERT_TRUE(first.ok());
  const auto second = Dial(listener.address, steady_clock::now() + milliseconds(50));
  EXPECT_TRUE(absl::IsDeadlineExceeded(second.status())) << second.status();
}

TEST(DialTest, ResolvesNamesToNumericAddresses) {
  const auto local = ResolveAddress("localhost:7070");
  ASSERT_TRUE(local.ok()) << local.status();
  EXPECT_THAT(*local, Contains("127.0.0.1:7070"));
  EXPECT_EQ(ResolveAddress("[::1]:7070").value_or(std::vector<std::string>{"[::1]:7070"}).front(),
            "[::1]:7070");
  EXPECT_TRUE(absl::IsUnavailable(ResolveAddress("no-such-host.invalid:1").status()));
}

}  // namespace
}  // namespace trainyard
