#include "controller/core/decide/node_identity.h"

#include "absl/strings/str_cat.h"
#include "proto/proof/digest.h"
#include "proto/proof/proof.h"

namespace trainyard::controller {
namespace {

// Returns true if the Hello proves the secret whose hash is `bound_hash`, or if `bound_hash` is
// empty.
bool ProvesSecret(const std::string& bound_hash, const v1::Hello& hello) {
  if (bound_hash.empty() || SameSecret(bound_hash, hello.node_secret())) return true;
  const std::string text =
      HelloText(hello.challenge(), hello.node_id(), hello.incarnation(), hello.nonce());
  return !hello.challenge().empty() &&
         SameSecret(SecretProof(bound_hash, text), hello.secret_proof());
}

}  // namespace

absl::Status CheckNodeIdentity(const ClusterState& state, const v1::Hello& hello) {
  const NodeBinding& bound = BindingOf(state, hello.node_id());
  const bool proven = bound.key.empty() ? ProvesSecret(bound.secret_hash, hello)
                                        : SameSecret(bound.key, hello.node_key());
  if (proven) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "node id ", hello.node_id(), " belongs to another worker, which has a different secret; to ",
      "rejoin as that node, start the refused worker with that node's data directory; to join as a "
      "new node, remove `node_id` and `node_secret` from the refused worker's data directory"));
}

bool AddsIdentity(const NodeBinding& bound, const v1::NodeJoined& joined) {
  return bound.key != joined.node_key() ||
         (!joined.secret_hash().empty() && bound.secret_hash != joined.secret_hash());
}

}  // namespace trainyard::controller
