// Training time that the ledger counts as diverging or slow.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_LOST_TRAINING_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_LOST_TRAINING_H_

#include <cstdint>

#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/ledger.pb.h"

namespace trainyard::controller {

struct LostTraining {
  // LEDGER_PHASE_DIVERGING or LEDGER_PHASE_SLOW.
  v1::LedgerPhase phase = v1::LEDGER_PHASE_UNSPECIFIED;
  Timestamp until_ms = 0;  // The end of the period in which the time was lost.
  int64_t lost_ms = 0;
};

// Adds the time to the attempt's recorded time use.
void AddLostTraining(const LostTraining& lost, v1::TimeUse& use);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_LOST_TRAINING_H_
