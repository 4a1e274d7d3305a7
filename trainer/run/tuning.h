// Measures the matrix products of a run on the GPU and writes a table of the fastest algorithms.
// The table fixes the choice of algorithm in later runs.
#ifndef TRAINYARD_TRAINER_RUN_TUNING_H_
#define TRAINYARD_TRAINER_RUN_TUNING_H_

#include <string>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// Runs micro-batches with these settings on the GPU and measures every matrix product that is in no
// table. Writes the table for this GPU model to `path`. Uses random tokens, so it needs no data.
// Throws TrainerError(kBadConfig) if the settings are for a CPU.
void TuneMatrixProductsOf(const RunConfig& config, const std::string& path);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_RUN_TUNING_H_
