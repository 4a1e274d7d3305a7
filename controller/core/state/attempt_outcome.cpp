#include "controller/core/state/attempt_outcome.h"

namespace trainyard::controller {

bool IsFailure(const v1::RankExited& exited) {
  return exited.exit_code() != 0 || exited.signal() != 0 || !exited.spawn_error().empty();
}

bool HasFailed(const v1::Attempt& attempt) {
  return attempt.stop_reason() == v1::STOP_REASON_FAILED ||
         attempt.stop_reason() == v1::STOP_REASON_STALLED;
}

}  // namespace trainyard::controller
