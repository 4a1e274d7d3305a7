// The outcome of ranks and attempts.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_ATTEMPT_OUTCOME_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_ATTEMPT_OUTCOME_H_

#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns true if the rank exited with a non-zero code, was killed by a signal, or could not be
// started.
bool IsFailure(const v1::RankExited& exited);

// Returns true if the rank exited after its attempt was asked to stop. A failure after the request
// is a consequence of the stop, not a cause.
bool WasAskedToStop(const v1::RankExited& exited, const v1::Attempt& attempt);

// Returns true if the ranks were asked to save and exit although nothing had failed: by a user, or
// by the controller (yield.h).
bool WasAskedToSave(const v1::Attempt& attempt);

// Returns true if the attempt was stopped by a pause or a yield. Such a stop is no failure, and the
// job continues with a later attempt.
bool IsInterrupted(const v1::Attempt& attempt);

// Returns true if the attempt was stopped because it failed or stalled.
bool HasFailed(const v1::Attempt& attempt);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_ATTEMPT_OUTCOME_H_
