#include "proto/access/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "absl/strings/numbers.h"

namespace trainyard {

std::optional<HostAndPort> SplitAddress(absl::string_view address) {
  const std::size_t colon = address.rfind(':');
  HostAndPort parts;
  if (colon == absl::string_view::npos ||
      !absl::SimpleAtoi(address.substr(colon + 1), &parts.port)) {
    return std::nullopt;
  }
  absl::string_view host = address.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  if (host.empty() || parts.port < 0 || parts.port > 65535) return std::nullopt;
  parts.host = std::string(host);
  return parts;
}

bool IsLoopback(absl::string_view host) {
  const std::string text(host);
  if (text == "localhost") return true;
  in_addr four{};
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six{};
  if (inet_pton(AF_INET6, text.c_str(), &six) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&six) || (IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr[12] == 127);
}

bool IsExactAddress(const std::string& host) {
  in_addr four{};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) return four.s_addr != INADDR_ANY;
  in6_addr six{};
  if (inet_pton(AF_INET6, host.c_str(), &six) != 1) return false;
  const bool any_four = IN6_IS_ADDR_V4MAPPED(&six) && six.s6_addr32[3] == INADDR_ANY;
  return !IN6_IS_ADDR_UNSPECIFIED(&six) && !any_four;
}

}  // namespace trainyard
