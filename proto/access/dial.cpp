#include "proto/access/dial.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/access/address.h"

namespace trainyard {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

// Returns null if the host is unknown.
AddressList Resolve(const HostAndPort& where, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found) != 0) {
    found = nullptr;
  }
  return {found, freeaddrinfo};
}

// Returns an empty text if the address has no numeric form.
std::string NumericText(const addrinfo& address, int port) {
  char host[NI_MAXHOST];
  if (getnameinfo(address.ai_addr, address.ai_addrlen, host, sizeof host, nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "";
  }
  return absl::StrContains(host, ':') ? absl::StrCat("[", host, "]:", port)
                                      : absl::StrCat(host, ":", port);
}

// Returns 0 once the connection is established, otherwise the errno value of the failure.
int WaitUntilConnected(int fd, std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - std::chrono::steady_clock::now());
  pollfd waiting{.fd = fd, .events = POLLOUT, .revents = 0};
  const int ready = poll(&waiting, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
  if (ready < 0) return errno;
  if (ready == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ResolveAddress(const std::string& address) {
  const std::optional<HostAndPort> where = SplitAddress(address);
  const AddressList list =
      where.has_value() ? Resolve(*where, AI_ADDRCONFIG) : AddressList(nullptr, freeaddrinfo);
  std::vector<std::string> found;
  for (const addrinfo* next = list.get(); next != nullptr; next = next->ai_next) {
    std::string text = NumericText(*next, where->port);
    if (!text.empty()) found.push_back(std::move(text));
  }
  if (!found.empty()) return found;
  return absl::UnavailableError(absl::StrCat("DNS resolution failed for ", address));
}

absl::StatusOr<UniqueFd> Dial(const std::string& numeric_address,
                              std::chrono::steady_clock::time_point deadline) {
  const std::optional<HostAndPort> where = SplitAddress(numeric_address);
  const AddressList list =
      where.has_value() ? Resolve(*where, AI_NUMERICHOST) : AddressList(nullptr, freeaddrinfo);
  if (list == nullptr) {
    return absl::UnavailableError(absl::StrCat(numeric_address, " is not a numeric address"));
  }
  UniqueFd socket(::socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int error = socket.valid() ? 0 : errno;
  if (error == 0 && connect(socket.get(), list->ai_addr, list->ai_addrlen) != 0) error = errno;
  if (error == EINPROGRESS) error = WaitUntilConnected(socket.get(), deadline);
  if (error == ETIMEDOUT) return absl::DeadlineExceededError("no answer");
  if (error != 0) return absl::UnavailableError(std::strerror(error));
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

}  // namespace trainyard
