// Times the GPU's matrix products, for the tables that fix the choice of algorithm in every run.
#ifndef TRAINYARD_TRAINER_RUN_TUNING_H_
#define TRAINYARD_TRAINER_RUN_TUNING_H_

#include <string>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// Runs micro-batches of these settings on the GPU, times every matrix product that is in no table,
// and writes the table of this GPU model to `path`. Needs no data: the tokens are random. Throws
// TrainerError(kBadConfig) if the settings are for a CPU.
void TuneMatrixProductsOf(const RunConfig& config, const std::string& path);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_RUN_TUNING_H_
