#include "worker/device/route_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/files/unique_fd.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

using AddressList = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

struct HostPort {
  std::string host;
  std::string port;
};

absl::StatusOr<HostPort> Split(const std::string& host_port) {
  const std::size_t colon = host_port.rfind(':');
  int port = 0;
  HostPort parts;
  if (colon != std::string::npos) {
    parts.host = host_port.substr(0, colon);
    parts.port = host_port.substr(colon + 1);
  }
  const bool bracketed =
      parts.host.size() >= 2 && parts.host.front() == '[' && parts.host.back() == ']';
  if (bracketed) parts.host = parts.host.substr(1, parts.host.size() - 2);
  const bool ambiguous = !bracketed && parts.host.find(':') != std::string::npos;
  if (parts.host.empty() || ambiguous || !absl::SimpleAtoi(parts.port, &port) || port < 1 ||
      port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", host_port,
                     "` is not an address; write HOST:PORT, such as 10.0.0.1:7070 or [::1]:7070"));
  }
  return parts;
}

absl::StatusOr<AddressList> Resolve(const HostPort& target) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(target.host.c_str(), target.port.c_str(), &hints, &found);
  if (error != 0) {
    return absl::NotFoundError(
        absl::StrCat("cannot find host `", target.host, "`: ", gai_strerror(error)));
  }
  return AddressList(found, freeaddrinfo);
}

// Connecting a datagram socket sends nothing; it makes the kernel select a route and a local
// address.
absl::StatusOr<std::string> LocalAddress(const addrinfo& target) {
  const UniqueFd fd(socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage local = {};
  socklen_t bytes = sizeof(local);
  char text[NI_MAXHOST] = "";
  if (!fd.valid() || connect(fd.get(), target.ai_addr, target.ai_addrlen) != 0 ||
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(&local), &bytes) != 0) {
    return absl::UnavailableError(strerror(errno));
  }
  const int error = getnameinfo(reinterpret_cast<sockaddr*>(&local), bytes, text, sizeof(text),
                                nullptr, 0, NI_NUMERICHOST);
  if (error != 0) return absl::UnavailableError(gai_strerror(error));
  return std::string(text);
}

}  // namespace

absl::StatusOr<std::string> AddressOfRouteTo(const std::string& host_port) {
  TRAINYARD_ASSIGN_OR_RETURN(const HostPort target, Split(host_port));
  TRAINYARD_ASSIGN_OR_RETURN(const AddressList addresses, Resolve(target));
  absl::Status failure = absl::UnavailableError("the host has no address");
  for (const addrinfo* entry = addresses.get(); entry != nullptr; entry = entry->ai_next) {
    absl::StatusOr<std::string> address = LocalAddress(*entry);
    if (address.ok()) return address;
    failure = address.status();
  }
  return absl::UnavailableError(
      absl::StrCat("no route to `", target.host, "`: ", failure.message()));
}

}  // namespace trainyard::worker
