// Computes how long a job was paused.
#ifndef TRAINYARD_CONTROLLER_CORE_LEDGER_PAUSED_TIME_H_
#define TRAINYARD_CONTROLLER_CORE_LEDGER_PAUSED_TIME_H_

#include <cstdint>

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the milliseconds for which the job was paused since `begin`. `begin` is the end of the
// newest attempt, or the submission time.
int64_t PausedMs(const v1::Job& job, Timestamp begin, Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_LEDGER_PAUSED_TIME_H_
