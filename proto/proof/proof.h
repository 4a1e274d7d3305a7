// Proofs that one end of a connection knows the controller's token. The token itself is not sent.
// Each end sends an HMAC, with the token as the key, of a value that the other end has chosen. The
// texts of each kind of proof begin with different words, so that one kind cannot be used as
// another.
#ifndef TRAINYARD_PROTO_PROOF_PROOF_H_
#define TRAINYARD_PROTO_PROOF_PROOF_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// Returns the controller's proof to a caller that chose `nonce` and dialed `address`. Because the
// proof contains the address, a program at another address cannot relay the controller's answer as
// its own. `address` is empty for an encrypted connection or a local socket.
std::string ControllerProof(absl::string_view token, absl::string_view nonce,
                            absl::string_view address);

// Returns the controller's proof to the worker of `node_id`. It is sent in the Welcome that answers
// a Hello with `nonce`.
std::string WelcomeProof(absl::string_view token, absl::string_view nonce,
                         absl::string_view node_id);

// Returns a caller's proof to the controller that created `challenge`.
std::string CallerProof(absl::string_view token, absl::string_view challenge);

// Returns the value of the `authorization` metadata that contains a caller's proof.
std::string ProofHeader(absl::string_view token, absl::string_view challenge);

// The parts of the value that ProofHeader returns. Both are empty for any other text.
struct CallerProofParts {
  absl::string_view challenge;
  absl::string_view proof;
};
CallerProofParts ParseProofHeader(absl::string_view header);

// Returns the text in a Hello that is signed with the node's key.
std::string HelloText(absl::string_view challenge, absl::string_view node_id,
                      absl::string_view incarnation, absl::string_view nonce);

// Returns the proof of a node's secret for the Hello with this text. Used if the controller knows
// only the hash of the secret (HashOf), because an older release bound the node id to the hash.
std::string SecretProof(absl::string_view secret_hash, absl::string_view hello_text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PROOF_PROOF_H_
