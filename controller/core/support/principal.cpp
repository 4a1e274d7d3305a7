#include "controller/core/support/principal.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/support/text.h"
#include "proto/contract/limits.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {

absl::StatusOr<Principal> MakePrincipal(std::string user, Verification verification) {
  TRAINYARD_RETURN_IF_ERROR(CheckLength("user name", user, kMaxUserBytes));
  return Principal{std::move(user), verification};
}

Principal ControllerPrincipal() { return {.user = "", .verification = Verification::kController}; }

bool IsVerified(const Principal& principal) {
  return principal.verification == Verification::kPeerCredentials ||
         principal.verification == Verification::kSession;
}

std::string ActorOf(const Principal& principal) {
  if (principal.verification == Verification::kController) return "controller";
  return absl::StrCat("user ", principal.user);
}

}  // namespace trainyard::controller
