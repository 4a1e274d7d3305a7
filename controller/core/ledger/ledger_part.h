// Copies the part of a job from which its ledger is computed.
#ifndef TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_PART_H_
#define TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_PART_H_

#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns a job with the same ledger (ledger.h) as `job`, but without its ranks, checkpoints, texts
// and settings. A report over thousands of jobs is computed from such copies on another thread.
// The simulation checks that both ledgers are equal at every moment.
v1::Job LedgerPart(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_LEDGER_LEDGER_PART_H_
