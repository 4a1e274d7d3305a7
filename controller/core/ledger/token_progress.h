// Tokens and remaining time of a run whose settings define the samples per step. Pure.
#ifndef TRAINYARD_CONTROLLER_CORE_LEDGER_TOKEN_PROGRESS_H_
#define TRAINYARD_CONTROLLER_CORE_LEDGER_TOKEN_PROGRESS_H_

#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Sets tokens and total_tokens of `progress`. Corrects eta_seconds, which assumes equal steps, for
// a growing batch: step time is proportional to the step's samples. Does nothing if the settings
// have no batch or sequence length, such as those of a program other than trainyard-trainer.
void AddTokens(const v1::JobSpec& spec, v1::Progress& progress);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_LEDGER_TOKEN_PROGRESS_H_
