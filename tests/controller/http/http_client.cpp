#include "tests/controller/http/http_client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace trainyard::controller::http {
namespace {

// Expires only if a test fails.
constexpr int kTimeoutSeconds = 20;

}  // namespace

HttpClient::HttpClient(const std::string& address) : address_(address) {
  const std::size_t colon = address.rfind(':');
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
  inet_pton(AF_INET, address.substr(0, colon).c_str(), &where.sin_addr);
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval read_timeout{kTimeoutSeconds, 0};
  setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &read_timeout, sizeof read_timeout);
  EXPECT_EQ(connect(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where), 0) << address;
}

HttpClient::~HttpClient() { close(fd_); }

void HttpClient::SendBytes(const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    // MSG_NOSIGNAL: the server may close the connection after it has read only some of the bytes.
    const ssize_t more = send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) return;
    sent += static_cast<std::size_t>(more);
  }
}

Answer HttpClient::Send(const std::string& method, const std::string& target,
                        const std::map<std::string, std::string>& headers,
                        const std::string& body) {
  std::string text = absl::StrCat(method, " ", target, " HTTP/1.1\r\n");
  if (!headers.contains("Host")) absl::StrAppend(&text, "Host: ", address_, "\r\n");
  for (const auto& [name, value] : headers) absl::StrAppend(&text, name, ": ", value, "\r\n");
  if (method == "POST") absl::StrAppend(&text, "Content-Length: ", body.size(), "\r\n");
  SendBytes(absl::StrCat(text, "\r\n", body));
  return ReadAnswer(method != "HEAD");
}

bool HttpClient::HasInput(int wait_ms) const {
  pollfd waiter = {fd_, POLLIN, 0};
  if (buffer_.empty()) poll(&waiter, 1, wait_ms);
  char byte;
  return !buffer_.empty() || recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

bool HttpClient::Fill() {
  char bytes[16 << 10];
  const ssize_t got = recv(fd_, bytes, sizeof bytes, 0);
  if (got <= 0) return false;
  buffer_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

std::string HttpClient::TakeUntil(const std::string& end) {
  std::size_t at;
  while ((at = buffer_.find(end)) == std::string::npos) {
    if (!Fill()) return "";
  }
  const std::string taken = buffer_.substr(0, at);
  buffer_.erase(0, at + end.size());
  return taken;
}

Answer HttpClient::ReadAnswer(bool has_body) {
  Answer answer;
  const std::string head = TakeUntil("\r\n\r\n");
  if (head.size() < 12) return answer;
  answer.status = std::stoi(head.substr(9, 3));
  for (const auto& line : absl::StrSplit(head, "\r\n")) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(": ", 1));
    if (parts.size() == 2) answer.headers[absl::AsciiStrToLower(parts[0])] = parts[1];
  }
  const auto length = answer.headers.find("content-length");
  if (!has_body || length == answer.headers.end()) return answer;
  const auto size = static_cast<std::size_t>(std::stoul(length->second));
  while (buffer_.size() < size && Fill()) {
  }
  answer.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  return answer;
}

std::map<std::string, std::string> HttpClient::ReadEvent() {
  while (true) {
    const std::string text = TakeUntil("\n\n");
    if (text.empty()) return {};
    std::map<std::string, std::string> fields;
    for (const auto& line : absl::StrSplit(text, '\n')) {
      const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(": ", 1));
      if (parts.size() == 2) fields[parts[0]] = parts[1];
    }
    if (fields.contains("event")) return fields;
  }
}

}  // namespace trainyard::controller::http
