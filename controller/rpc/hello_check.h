// Checks a worker's identity by its Hello.
#ifndef TRAINYARD_CONTROLLER_RPC_HELLO_CHECK_H_
#define TRAINYARD_CONTROLLER_RPC_HELLO_CHECK_H_

#include "absl/status/status.h"
#include "controller/access/token_prover.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Verifies the signature of the Hello. If an older release sent a secret, replaces it with its
// hash, and with its public key in node_key, so that no other part of the controller sees the
// secret. `is_private`: nobody else can read the connection. Older releases require that.
//
// UNAVAILABLE: the challenge is from an earlier process of the controller. PERMISSION_DENIED: the
// signature is wrong. FAILED_PRECONDITION: an older release on a connection that is not private.
absl::Status VerifyHello(const TokenProver& prover, bool is_private, v1::Hello& hello);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_HELLO_CHECK_H_
