// Key pair of a node (Ed25519, RFC 8032). The node's secret is its seed. The controller knows only
// the public key, so neither it nor a reader of its store can impersonate the node.
#ifndef TRAINYARD_PROTO_PROOF_NODE_KEY_H_
#define TRAINYARD_PROTO_PROOF_NODE_KEY_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// Public key of the secret, 64 hexadecimal digits. Empty unless the secret is 64 hexadecimal
// digits.
std::string PublicKeyOf(absl::string_view secret);

// Signature of `text` by the secret, 128 hexadecimal digits; empty as in PublicKeyOf.
std::string SignatureOf(absl::string_view secret, absl::string_view text);

// True if the secret of `public_key` signed `text`.
bool IsSignature(absl::string_view public_key, absl::string_view text, absl::string_view signature);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PROOF_NODE_KEY_H_
