// Addresses as HOST:PORT.
#ifndef TRAINYARD_PROTO_ACCESS_ADDRESS_H_
#define TRAINYARD_PROTO_ACCESS_ADDRESS_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// The two parts of an address such as "127.0.0.1:7070", "[::1]:7070" or "localhost:7070".
struct HostAndPort {
  std::string host;
  int port = 0;
};

// Returns nullopt if the text does not have this form. Removes the brackets from an IPv6 address.
std::optional<HostAndPort> SplitAddress(absl::string_view address);

// True for 127.0.0.0/8, ::1, ::ffff:127.0.0.0/104 and "localhost".
bool IsLoopback(absl::string_view host);

// True for the numeric address of a single host; false for a name, 0.0.0.0 and ::.
bool IsExactAddress(const std::string& host);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_ADDRESS_H_
