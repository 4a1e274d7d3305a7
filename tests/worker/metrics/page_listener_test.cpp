#include "worker/metrics/page_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/files/unique_fd.h"
#include "tests/deploy/metric_page.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::unique_ptr<PageListener> Start(PageLimits limits = {}) {
  auto listener = PageListener::Start(
      "127.0.0.1", 0, "/metrics", [] { return "the page\n"; }, limits);
  EXPECT_TRUE(listener.ok()) << listener.status();
  return *std::move(listener);
}

UniqueFd Connect(const PageListener& listener) {
  UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(listener.port()));
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

// Sends the text. Returns all bytes received until the listener closes the connection.
std::string Send(const UniqueFd& fd, const std::string& text) {
  EXPECT_EQ(send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = recv(fd.get(), buffer, sizeof buffer, 0)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  return answer;
}

TEST(PageListenerTest, ServesItsPageAlone) {
  const auto listener = Start();
  EXPECT_THAT(Send(Connect(*listener), "GET /metrics HTTP/1.1\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\r\n\r\nthe page\n")));
  EXPECT_THAT(Send(Connect(*listener), "GET /metrics?a HTTP/1.0\r\nHost: x\r\n\r\n"),
              StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Send(Connect(*listener), "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Send(Connect(*listener), "POST /metrics HTTP/1.1\r\n\r\n"),
              StartsWith("HTTP/1.1 405 "));
  EXPECT_THAT(Send(Connect(*listener), "GET\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Send(Connect(*listener), std::string(9000, 'x')), StartsWith("HTTP/1.1 431 "));
}

TEST(PageListenerTest, HalfRequestsDoNotKeepItFromOthers) {
  const auto listener = Start();
  std::vector<UniqueFd> half;
  for (int i = 0; i < 60; ++i) {
    half.push_back(Connect(*listener));
    send(half.back().get(), "GET /met", 8, MSG_NOSIGNAL);
  }
  EXPECT_THAT(test::HttpGet(absl::StrCat("127.0.0.1:", listener->port()), "/metrics"),
              HasSubstr("the page"));
  // One address had too many connections, so the listener closed the oldest connection.
  char byte = 0;
  EXPECT_LE(recv(half.front().get(), &byte, 1, 0), 0);
}

TEST(PageListenerTest, ASlowRequestIsClosed) {
  const auto listener = Start({.whole = std::chrono::milliseconds(50)});
  EXPECT_EQ(Send(Connect(*listener), "GET /metrics HTTP/1.1\r\n"), "");
}

TEST(PageListenerTest, SaysWhyItCannotListen) {
  const auto listener = Start();
  const auto other = PageListener::Start("127.0.0.1", listener->port(), "/", [] { return ""; });
  EXPECT_EQ(other.status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace trainyard::worker
