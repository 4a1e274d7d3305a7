#include "worker/device/network_interface.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstring>
#include <memory>

namespace trainyard::worker {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;
using Interfaces = std::unique_ptr<ifaddrs, decltype(&freeifaddrs)>;

Addresses AddressesOf(const std::string& address) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), nullptr, &hints, &found) != 0) found = nullptr;
  return {found, freeaddrinfo};
}

Interfaces AllInterfaces() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) found = nullptr;
  return {found, freeifaddrs};
}

bool IsLoopback(const sockaddr& address) {
  if (address.sa_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  }
  constexpr uint32_t kLoopbackNet = 127;
  return address.sa_family == AF_INET &&
         ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == kLoopbackNet;
}

bool IsSame(const sockaddr& a, const sockaddr& b) {
  if (a.sa_family != b.sa_family) return false;
  if (a.sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
  }
  return a.sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                     &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, sizeof(in6_addr)) == 0;
}

// The loopback interface has only one address of its network, but answers to all of them.
bool Serves(const ifaddrs& interface, const sockaddr& address) {
  if (interface.ifa_addr == nullptr) return false;
  const bool is_loopback = (interface.ifa_flags & IFF_LOOPBACK) != 0;
  return (is_loopback && IsLoopback(address)) || IsSame(*interface.ifa_addr, address);
}

}  // namespace

std::string InterfaceOf(const std::string& address) {
  const Addresses addresses = AddressesOf(address);
  const Interfaces interfaces = AllInterfaces();
  for (const addrinfo* one = addresses.get(); one != nullptr; one = one->ai_next) {
    for (const ifaddrs* other = interfaces.get(); other != nullptr; other = other->ifa_next) {
      if (!Serves(*other, *one->ai_addr)) continue;
      // An alias of an address, such as "eth0:1", is no interface.
      const std::string name = other->ifa_name;
      return name.substr(0, name.find(':'));
    }
  }
  return "";
}

}  // namespace trainyard::worker
