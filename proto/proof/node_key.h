// The key pair of a node (Ed25519, RFC 8032). The node's secret is the seed of the key pair. The
// controller knows only the public key. Therefore neither the controller nor anyone who reads its
// store can impersonate the node.
#ifndef TRAINYARD_PROTO_PROOF_NODE_KEY_H_
#define TRAINYARD_PROTO_PROOF_NODE_KEY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// Returns the public key of the secret as 64 hexadecimal digits. Returns an empty text if the
// secret does not consist of 64 hexadecimal digits.
std::string PublicKeyOf(absl::string_view secret);

// Returns the signature of `text` with the secret as 128 hexadecimal digits. Returns an empty text
// if the secret is invalid, as PublicKeyOf does.
std::string SignatureOf(absl::string_view secret, absl::string_view text);

// True if `text` was signed with the secret that belongs to `public_key`.
bool IsSignature(absl::string_view public_key, absl::string_view text, absl::string_view signature);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PROOF_NODE_KEY_H_
