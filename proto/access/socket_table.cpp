#include "proto/access/socket_table.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <strings.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace trainyard {
namespace {

constexpr int kListening = 0x0A;
constexpr int kEstablished = 0x01;

// One line of /proc/net/tcp or /proc/net/tcp6. Addresses are 8 or 32 hexadecimal digits, in words
// of the machine's byte order.
struct Socket {
  std::string local_address;
  int local_port = 0;
  std::string remote_address;
  int remote_port = 0;
  int state = 0;
  uid_t uid = 0;
};

bool SplitEnd(const std::string& text, std::string& address, int& port) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  address = text.substr(0, colon);
  return absl::SimpleHexAtoi(text.substr(colon + 1), &port);
}

std::optional<Socket> ParseSocket(const std::string& line) {
  std::istringstream fields(line);
  std::string number, local, remote, state, queues, timer, retransmits;
  Socket socket;
  fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> socket.uid;
  const bool sound = !fields.fail() && SplitEnd(local, socket.local_address, socket.local_port) &&
                     SplitEnd(remote, socket.remote_address, socket.remote_port) &&
                     absl::SimpleHexAtoi(state, &socket.state);
  return sound ? std::optional(socket) : std::nullopt;
}

std::string HexWord(uint32_t network_order) {
  return absl::StrCat(absl::Hex(network_order, absl::kZeroPad8));
}

// Upper case, as /proc has it.
bool IsSameHex(const std::string& one, const std::string& other) {
  return strcasecmp(one.c_str(), other.c_str()) == 0;
}

bool IsLoopbackHex(const std::string& address) {
  static const std::string kSix = absl::StrCat("000000000000000000000000", HexWord(htonl(1)));
  static const std::string kMapped = absl::StrCat("0000000000000000", HexWord(htonl(0xffff)));
  if (address.size() == 8 || (address.size() == 32 && IsSameHex(address.substr(0, 24), kMapped))) {
    uint32_t word = 0;
    return absl::SimpleHexAtoi(address.substr(address.size() - 8), &word) &&
           (ntohl(word) >> 24) == 127;
  }
  return IsSameHex(address, kSix);
}

bool IsAnyHex(const std::string& address) {
  return address.find_first_not_of('0') == std::string::npos;
}

// The forms in which the kernel may list a listener at exactly this address.
std::vector<std::string> HexOf(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  if (inet_pton(AF_INET6, host.c_str(), &six) == 1) {
    if (IN6_IS_ADDR_V4MAPPED(&six)) std::memcpy(&four, &six.s6_addr[12], sizeof four);
    if (!IN6_IS_ADDR_V4MAPPED(&six)) {
      std::string hex;
      for (const uint32_t word : six.s6_addr32) absl::StrAppend(&hex, HexWord(word));
      return {hex};
    }
  } else if (inet_pton(AF_INET, host.c_str(), &four) != 1) {
    return {};
  }
  return {HexWord(four.s_addr),
          absl::StrCat("0000000000000000", HexWord(htonl(0xffff)), HexWord(four.s_addr))};
}

// Users of the sockets that match, each once.
std::set<uid_t> FindOwners(const std::function<bool(const Socket&)>& matches) {
  std::set<uid_t> owners;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);  // Titles.
    while (std::getline(file, line)) {
      const std::optional<Socket> socket = ParseSocket(line);
      if (socket.has_value() && matches(*socket)) owners.insert(socket->uid);
    }
  }
  return owners;
}

}  // namespace

std::set<uid_t> ListenersInTable(const HostAndPort& where) {
  const std::vector<std::string> exact = HexOf(where.host);
  const auto listens = [port = where.port](const Socket& socket) {
    return socket.state == kListening && socket.local_port == port;
  };
  const std::set<uid_t> owners = FindOwners([&](const Socket& socket) {
    return listens(socket) &&
           std::any_of(exact.begin(), exact.end(), [&](const std::string& address) {
             return IsSameHex(socket.local_address, address);
           });
  });
  // The kernel prefers a listener at the exact address to one at every address.
  if (!owners.empty()) return owners;
  return FindOwners(
      [&](const Socket& socket) { return listens(socket) && IsAnyHex(socket.local_address); });
}

std::set<uid_t> ConnectionsInTable(int near, int far) {
  return FindOwners([near, far](const Socket& socket) {
    return socket.state == kEstablished && socket.local_port == near && socket.remote_port == far &&
           IsLoopbackHex(socket.local_address) && IsLoopbackHex(socket.remote_address);
  });
}

}  // namespace trainyard
