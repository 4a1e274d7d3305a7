// Check of a worker's identity by its Hello.
#ifndef TRAINYARD_CONTROLLER_RPC_HELLO_CHECK_H_
#define TRAINYARD_CONTROLLER_RPC_HELLO_CHECK_H_

#include "absl/status/status.h"
#include "controller/access/token_prover.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::controller {

// Verifies the signature of the Hello. Replaces the secret that an older release sends by its hash,
// and by its public key in node_key: from here on nothing of the controller has the secret.
// `is_private`: nobody else can read the connection, which older releases need.
//
// UNAVAILABLE: the challenge is of an earlier process of the controller. PERMISSION_DENIED: the
// signature is wrong. FAILED_PRECONDITION: an older release on a connection that is not private.
absl::Status VerifyHello(const TokenProver& prover, bool is_private, v1::Hello& hello);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_HELLO_CHECK_H_
