// The run of one rank, from its settings to its exit code.
#ifndef TRAINYARD_TRAINER_RANK_RUN_H_
#define TRAINYARD_TRAINER_RANK_RUN_H_

#include "proto/contract/run_config.h"
#include "trainer/config/runtime_environment.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

// Trains, or evaluates only. Where env.heal_path is set the loss of a peer does not end training:
// the rank waits for an order and goes on in place; as a spare it waits for its first one. Failures
// are told in telemetry and thrown as TrainerError.
ExitCode RunRank(const RunConfig& config, const RuntimeEnvironment& env);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_RANK_RUN_H_
