// Code that workers send to each other over unencrypted connections. Packs are encrypted with a
// key that is computed from the controller's token and the id of the snapshot, so that only workers
// of the cluster can read them.
#ifndef TRAINYARD_PROTO_PROOF_SEALED_CODE_H_
#define TRAINYARD_PROTO_PROOF_SEALED_CODE_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace trainyard {

// Returns the key for the code of one snapshot: 32 bytes.
std::string CodeKey(absl::string_view token, absl::string_view snapshot);

// Returns a random text for one request: 32 hexadecimal digits. Empty if the machine has no random
// bytes.
std::string CodeNonce();

// Returns a worker's proof to the worker from which it requests code.
std::string CodeProof(absl::string_view key, absl::string_view nonce);

// Encrypts a pack with AES-256-GCM. The result can be opened only with the same key and nonce.
// Returns nullopt if the machine has no random bytes.
std::optional<std::string> SealCode(absl::string_view key, absl::string_view nonce,
                                    absl::string_view pack);

// Returns the pack; nullopt if it was not sealed with this key for this nonce, or was modified.
// Decrypts in place: a second buffer of 8 MiB would double the time.
std::optional<std::string> OpenCode(absl::string_view key, absl::string_view nonce,
                                    std::string sealed);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PROOF_SEALED_CODE_H_
