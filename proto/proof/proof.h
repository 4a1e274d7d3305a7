// Proofs that one end of a connection knows the controller's token. Neither end sends the token:
// each sends an HMAC, keyed by the token, of a value chosen by the other end. Each text begins with
// different words, so that one kind of proof cannot be used as another.
#ifndef TRAINYARD_PROTO_PROOF_PROOF_H_
#define TRAINYARD_PROTO_PROOF_PROOF_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// The controller's proof to a caller that chose `nonce` and dialed `address`. The address keeps a
// program at another address from relaying the controller's answer as its own. Empty for an
// encrypted connection or a local socket.
std::string ControllerProof(absl::string_view token, absl::string_view nonce,
                            absl::string_view address);

// The controller's proof to the worker of `node_id`, in the Welcome that answers a Hello with
// `nonce`.
std::string WelcomeProof(absl::string_view token, absl::string_view nonce,
                         absl::string_view node_id);

// A caller's proof to the controller that made `challenge`.
std::string CallerProof(absl::string_view token, absl::string_view challenge);

// Value of the metadata `authorization` with a caller's proof.
std::string ProofHeader(absl::string_view token, absl::string_view challenge);

// Parts of such a header; both empty for any other text.
struct CallerProofParts {
  absl::string_view challenge;
  absl::string_view proof;
};
CallerProofParts ParseProofHeader(absl::string_view header);

// Text that a node's key signs in a Hello.
std::string HelloText(absl::string_view challenge, absl::string_view node_id,
                      absl::string_view incarnation, absl::string_view nonce);

// Proof of a node secret of which the controller knows only the hash (HashOf), in the Hello with
// this text. Older releases bound node ids to hashes.
std::string SecretProof(absl::string_view secret_hash, absl::string_view hello_text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PROOF_PROOF_H_
