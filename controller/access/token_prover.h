// Proves to callers that the controller has the token, and checks callers' proofs
// (proto/proof/proof.h).
#ifndef TRAINYARD_CONTROLLER_ACCESS_TOKEN_PROVER_H_
#define TRAINYARD_CONTROLLER_ACCESS_TOKEN_PROVER_H_

#include <atomic>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trainyard/v1/access_service.pb.h"

namespace trainyard::controller {

// Thread-safe.
class TokenProver {
 public:
  // `host` and `port` are the address at which this controller serves gRPC. `port` is 0 until the
  // server listens, and must outlive this object. A challenge is valid only for the object that
  // created it, so it is invalid after a restart.
  TokenProver(std::string token, std::string host, const std::atomic<int>& port);

  // Handles AccessService.Prove.
  absl::StatusOr<v1::ProveResponse> Prove(const v1::ProveRequest& request) const;
  // Returns the proof to send in a worker's Welcome.
  std::string ProveWelcome(absl::string_view nonce, absl::string_view node_id) const;

  // Replaces the token.
  void ReplaceToken(const std::string& token);

  // Returns true if this object created the challenge.
  bool IsOwn(absl::string_view challenge) const;
  // Returns true if the header contains a caller's proof for a challenge that this object created.
  bool TakesHeader(absl::string_view authorization) const;

 private:
  absl::Status CheckAddress(const std::string& dialed) const;
  std::string SignatureOf(absl::string_view nonce) const;

  std::string Token() const;

  mutable std::mutex mutex_;
  std::string token_;  // Guarded by mutex_.
  // The key that signs challenges. A signed challenge need not be stored.
  const std::string challenge_key_;
  const std::string host_;
  const std::atomic<int>& port_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_TOKEN_PROVER_H_
