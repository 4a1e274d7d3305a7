// Proofs to the other end of a connection that this end knows the controller's token. The token is
// never sent. A proof is an HMAC with the token as key. The input is a value that the other end has
// chosen. Each kind of proof has its own prefix in the text, so that one kind cannot be used as
// another.
#ifndef TRAINYARD_PROTO_PROOF_PROOF_H_
#define TRAINYARD_PROTO_PROOF_PROOF_H_

#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// Returns the controller's proof to a caller that chose `nonce` and dialed `address`. The proof
// contains the address, so that a program at another address cannot relay the proof as its own.
// `address` is empty for an encrypted connection or a local socket.
std::string ControllerProof(absl::string_view token, absl::string_view nonce,
                            absl::string_view address);

// Returns the controller's proof to the worker of `node_id`. The controller sends the proof in the
// Welcome that answers a Hello with `nonce`.
std::string WelcomeProof(absl::string_view token, absl::string_view nonce,
                         absl::string_view node_id);

// Returns a caller's proof to the controller that created `challenge`.
std::string CallerProof(absl::string_view token, absl::string_view challenge);

// Returns the value of the `authorization` metadata for a call with a caller's proof.
std::string ProofHeader(absl::string_view token, absl::string_view challenge);

// The parts of the value that ProofHeader returns. Both parts are empty for any other text.
struct CallerProofParts {
  absl::string_view challenge;
  absl::string_view proof;
};
CallerProofParts ParseProofHeader(absl::string_view header);

// Returns the text that a worker signs with the node's key for its Hello.
std::string HelloText(absl::string_view challenge, absl::string_view node_id,
                      absl::string_view incarnation, absl::string_view nonce);

// Returns the proof that a worker knows the node's secret, for the Hello with this text. Used if an
// older release registered the node with only the hash of the secret (HashOf), so that the
// controller has no public key.
std::string SecretProof(absl::string_view secret_hash, absl::string_view hello_text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PROOF_PROOF_H_
