// The user or program in whose name a request is decided.
#ifndef TRAINYARD_CONTROLLER_CORE_SUPPORT_PRINCIPAL_H_
#define TRAINYARD_CONTROLLER_CORE_SUPPORT_PRINCIPAL_H_

#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// Source of the name of a principal.
enum class Verification {
  // The client named the user. A token proves that the client may call, but not who it is.
  kClaim,
  // The kernel named the owner of the connection to the local socket.
  kPeerCredentials,
  // The dashboard session belongs to a user whom the kernel named at its login.
  kSession,
  // The controller itself makes the request, for no user.
  kController,
};

struct Principal {
  // Empty if nobody named a user.
  std::string user;
  Verification verification = Verification::kClaim;
};

// INVALID_ARGUMENT: the user name is longer than kMaxUserBytes.
absl::StatusOr<Principal> MakePrincipal(std::string user, Verification verification);

Principal ControllerPrincipal();

// See Event.actor_verified.
bool IsVerified(const Principal& principal);

// "user ada" or "controller". See Event.actor.
std::string ActorOf(const Principal& principal);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_SUPPORT_PRINCIPAL_H_
