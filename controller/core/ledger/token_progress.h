// Tokens and time left of a run whose settings say how many samples each step has. Pure.
#ifndef TRAINYARD_CONTROLLER_CORE_LEDGER_TOKEN_PROGRESS_H_
#define TRAINYARD_CONTROLLER_CORE_LEDGER_TOKEN_PROGRESS_H_

#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard::controller {

// Sets tokens and total_tokens of `progress`, and adapts eta_seconds, which takes all steps as
// equal, to a batch that grows: a step takes as long as its samples. Changes nothing where the
// settings have no batch, as of a program that is not trainyard-trainer.
void AddTokens(const v1::JobSpec& spec, v1::Progress& progress);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_LEDGER_TOKEN_PROGRESS_H_
