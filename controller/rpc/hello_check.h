// Verifies a worker's identity based on its Hello message.
#ifndef TRAINYARD_CONTROLLER_RPC_HELLO_CHECK_H_
#define TRAINYARD_CONTROLLER_RPC_HELLO_CHECK_H_

#include "absl/status/status.h"
#include "controller/access/token_prover.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Verifies the signature of the Hello. A worker of an older release sends a secret instead, and
// therefore needs a connection that nobody else can read (`is_private`). The function replaces the
// secret with its hash and node_key with the secret's public key, so that no other part of the
// controller sees the secret.
//
// UNAVAILABLE: the challenge is from an earlier process of the controller. PERMISSION_DENIED: the
// signature is wrong. FAILED_PRECONDITION: a worker of an older release uses a connection that is
// not private.
absl::Status VerifyHello(const TokenProver& prover, bool is_private, v1::Hello& hello);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_HELLO_CHECK_H_
