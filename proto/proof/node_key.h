// The key pair of a node (Ed25519, RFC 8032). The node's secret is the seed of the pair. The
// controller stores only the public key, so that nobody who reads the controller's store can
// impersonate the node.
#ifndef TRAINYARD_PROTO_PROOF_NODE_KEY_H_
#define TRAINYARD_PROTO_PROOF_NODE_KEY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// Returns the public key of `secret` as 64 hexadecimal digits; empty if `secret` is not 64
// hexadecimal digits.
std::string PublicKeyOf(absl::string_view secret);

// Signs `text` with `secret` and returns the signature as 128 hexadecimal digits; empty if `secret`
// is not 64 hexadecimal digits.
std::string SignatureOf(absl::string_view secret, absl::string_view text);

// True if `text` was signed with the secret that belongs to `public_key`.
bool IsSignature(absl::string_view public_key, absl::string_view text, absl::string_view signature);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PROOF_NODE_KEY_H_
