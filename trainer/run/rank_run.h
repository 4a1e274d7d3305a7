// Runs one rank, from reading its settings to its exit code.
#ifndef TRAINYARD_TRAINER_RUN_RANK_RUN_H_
#define TRAINYARD_TRAINER_RUN_RANK_RUN_H_

#include "proto/contract/run_config.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// Trains or, if so configured, only evaluates. If env.heal_path is set, training survives the loss
// of a peer: the rank waits for an order and continues in place. A standby waits for its first
// order. Failures are written to telemetry and then thrown as TrainerError.
ExitCode RunRank(const RunConfig& config, const RuntimeEnvironment& env);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_RUN_RANK_RUN_H_
