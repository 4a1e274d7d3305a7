#include "controller/access/caller.h"

#include <utility>

#include "absl/strings/str_replace.h"
#include "proto/access/address.h"
#include "proto/access/user_name.h"

namespace trainyard::controller {

std::string PeerAddress(const std::string& grpc_peer) {
  const std::size_t colon = grpc_peer.find(':');
  if (colon == std::string::npos) return "";
  return absl::StrReplaceAll(grpc_peer.substr(colon + 1), {{"%5B", "["}, {"%5D", "]"}});
}

bool IsLocal(const std::string& peer) {
  const auto where = SplitAddress(peer);
  return where.has_value() && IsLoopback(where->host);
}

absl::StatusOr<Principal> PrincipalOf(std::optional<uid_t> local_user, const std::string& claimed) {
  if (!local_user.has_value()) return MakePrincipal(claimed, Verification::kClaim);
  std::string name = UserName(*local_user);
  const bool for_another = *local_user == 0 && !claimed.empty() && claimed != name;
  if (for_another) return MakePrincipal(claimed, Verification::kClaim);
  return MakePrincipal(std::move(name), Verification::kPeerCredentials);
}

}  // namespace trainyard::controller
