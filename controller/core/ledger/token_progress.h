// Computes tokens and remaining time of a run whose settings define the number of samples per step.
// Has no side effects.
#ifndef TRAINYARD_CONTROLLER_CORE_LEDGER_TOKEN_PROGRESS_H_
#define TRAINYARD_CONTROLLER_CORE_LEDGER_TOKEN_PROGRESS_H_

#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Sets tokens and total_tokens of `progress`. Corrects eta_seconds for a growing batch: the
// original eta_seconds assumes steps of equal length, but a step with more samples takes
// proportionally longer. Does nothing if the settings have no batch size or sequence length, as for
// a program other than trainyard-trainer.
void AddTokens(const v1::JobSpec& spec, v1::Progress& progress);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_LEDGER_TOKEN_PROGRESS_H_
