#include "controller/core/state/attempts/attempt_outcome.h"

#include <cstdint>

namespace trainyard::controller {

bool IsFailure(const v1::RankExited& exited) {
  return exited.exit_code() != 0 || exited.signal() != 0 || !exited.spawn_error().empty();
}

bool WasAskedToStop(const v1::RankExited& exited, const v1::Attempt& attempt) {
  const int64_t ended_ms = exited.corrected_ms() != 0 ? exited.corrected_ms() : exited.time_ms();
  return attempt.stopping_time_ms() != 0 && ended_ms >= attempt.stopping_time_ms();
}

bool WasAskedToSave(const v1::Attempt& attempt) {
  return attempt.stop_reason() == v1::STOP_REASON_USER ||
         attempt.stop_reason() == v1::STOP_REASON_HALVED ||
         attempt.stop_reason() == v1::STOP_REASON_TIME_LIMIT || IsInterrupted(attempt);
}

bool IsInterrupted(const v1::Attempt& attempt) {
  return attempt.stop_reason() == v1::STOP_REASON_PAUSED ||
         attempt.stop_reason() == v1::STOP_REASON_YIELDED;
}

bool HasFailed(const v1::Attempt& attempt) {
  return attempt.stop_reason() == v1::STOP_REASON_FAILED ||
         attempt.stop_reason() == v1::STOP_REASON_STALLED;
}

}  // namespace trainyard::controller
