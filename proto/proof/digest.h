// Hashes of secrets, and constant-time comparisons.
#ifndef TRAINYARD_PROTO_PROOF_DIGEST_H_
#define TRAINYARD_PROTO_PROOF_DIGEST_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// Returns SHA-256 as 64 hexadecimal digits; empty for an empty text.
std::string HashOf(absl::string_view text);

// Returns HMAC-SHA-256 as 64 hexadecimal digits.
std::string KeyedHashOf(absl::string_view key, absl::string_view text);

// Compares two texts in constant time: the time depends only on their length.
bool SameSecret(absl::string_view one, absl::string_view other);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PROOF_DIGEST_H_
