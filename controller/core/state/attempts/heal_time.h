// The time of heals in place. Every surface shows these figures.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_HEAL_TIME_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_HEAL_TIME_H_

#include <cstdint>

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the milliseconds that the gang spent healing: from each failure to the next completed
// step, or to `until`. Consecutive heals without a completed step between them count as one.
int64_t HealedMs(const v1::Attempt& attempt, Timestamp until);

// Returns the time of the failure that began the heal in progress. HealedMs counts from this time.
// Returns 0 if the gang is not healing.
Timestamp HealingSince(const v1::Attempt& attempt);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_HEAL_TIME_H_
