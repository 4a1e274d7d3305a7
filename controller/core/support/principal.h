// The user or program on whose behalf a request is decided.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_PRINCIPAL_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_PRINCIPAL_H_

#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// The source of a principal's name.
enum class Verification {
  // The client claims to be this user. The token proves that the client may call, but not who the
  // client is.
  kClaim,
  // The kernel identified the owner of the connection to the local socket.
  kPeerCredentials,
  // The dashboard session belongs to a user whom the kernel identified at login.
  kSession,
  // The controller itself makes the request, not on behalf of a user.
  kController,
};

struct Principal {
  // Empty if the user is unknown.
  std::string user;
  Verification verification = Verification::kClaim;
};

// INVALID_ARGUMENT: the user name is longer than kMaxUserBytes.
absl::StatusOr<Principal> MakePrincipal(std::string user, Verification verification);

Principal ControllerPrincipal();

// See Event.actor_verified.
bool IsVerified(const Principal& principal);

// Returns "user ada" or "controller" (see Event.actor).
std::string ActorOf(const Principal& principal);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_PRINCIPAL_H_
