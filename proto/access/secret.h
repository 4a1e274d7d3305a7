// Random secrets, their hashes, and comparisons that tell nothing by the time they take.
#ifndef TRAINYARD_PROTO_ACCESS_SECRET_H_
#define TRAINYARD_PROTO_ACCESS_SECRET_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// 64 hexadecimal digits from the kernel's random source.
std::string NewSecret();

// SHA-256 as 64 hexadecimal digits; empty for an empty text.
std::string HashOf(absl::string_view text);

// HMAC-SHA-256 as 64 hexadecimal digits.
std::string KeyedHashOf(absl::string_view key, absl::string_view text);

// Takes as long for equal texts as for others of the same length.
bool SameSecret(absl::string_view one, absl::string_view other);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_ACCESS_SECRET_H_
