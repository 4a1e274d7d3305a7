#include "controller/access/caller.h"

#include <optional>

#include "absl/strings/str_replace.h"
#include "proto/access/local_port.h"

namespace trainyard::controller {

std::string PeerAddress(const std::string& grpc_peer) {
  const std::size_t colon = grpc_peer.find(':');
  if (colon == std::string::npos) return "";
  return absl::StrReplaceAll(grpc_peer.substr(colon + 1), {{"%5B", "["}, {"%5D", "]"}});
}

bool IsLocal(const Connection& connection) {
  const auto peer = SplitAddress(connection.peer);
  return peer.has_value() && IsLoopback(peer->host);
}

Caller CallerOf(const Connection& connection, const std::string& claimed) {
  const auto peer = SplitAddress(connection.peer);
  if (!peer.has_value() || !IsLoopback(peer->host)) return {claimed, false};
  const std::optional<uid_t> owner = OwnerOfConnection(*peer, connection.here);
  if (!owner.has_value()) return {claimed, false};
  std::string name = UserName(*owner);
  const bool for_another = *owner == 0 && !claimed.empty() && claimed != name;
  return for_another ? Caller{claimed, false} : Caller{std::move(name), true};
}

}  // namespace trainyard::controller
