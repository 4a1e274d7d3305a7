#include "controller/rpc/hello_check.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/proof/digest.h"
#include "proto/proof/node_key.h"
#include "proto/proof/proof.h"

namespace trainyard::controller {
namespace {

absl::Status AdmitOlderRelease(bool is_private, v1::Hello& hello) {
  const std::string secret = hello.node_secret();
  hello.set_node_secret(HashOf(secret));
  hello.set_node_key(PublicKeyOf(secret));
  if (is_private) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the worker's release ", hello.worker_version(),
                   " sends the secret of its node, but this connection is not encrypted; upgrade "
                   "the worker, or use TLS (deploy/README.md)"));
}

}  // namespace

absl::Status VerifyHello(const TokenProver& prover, bool is_private, v1::Hello& hello) {
  if (hello.challenge().empty()) return AdmitOlderRelease(is_private, hello);
  hello.clear_node_secret();
  if (!prover.IsOwn(hello.challenge())) {
    return absl::UnavailableError("the controller restarted after the worker dialed it");
  }
  const std::string text =
      HelloText(hello.challenge(), hello.node_id(), hello.incarnation(), hello.nonce());
  if (IsSignature(hello.node_key(), text, hello.signature())) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("the signature of node ", hello.node_name(), " (",
                                                  hello.node_id(), ") is wrong"));
}

}  // namespace trainyard::controller
