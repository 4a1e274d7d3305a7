// Loads the kernels of a run in a process that waits to become a rank of it.
#ifndef TRAINYARD_TRAINER_RUN_REHEARSAL_H_
#define TRAINYARD_TRAINER_RUN_REHEARSAL_H_

#include <torch/types.h>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// Returns settings for one rank that use the same kernels as `config` but need little memory: one
// layer of each kind, few heads of the same size, and short samples. Pure.
RunConfig SmallForm(const RunConfig& config);

// Trains one step of SmallForm(config) on random tokens and drops the result. CUDA loads a kernel
// at its first launch. With experts, a process that joins a running gang would otherwise need more
// than a second for its first step. Throws what a step throws.
void RehearseStep(const RunConfig& config, torch::Device device);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_RUN_REHEARSAL_H_
