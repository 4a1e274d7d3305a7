// Exit code and message for an exception that ends the trainer.
#ifndef TRAINYARD_TRAINER_PROCESS_FAILURE_H_
#define TRAINYARD_TRAINER_PROCESS_FAILURE_H_

#include <exception>
#include <string>

#include "proto/contract/exit_code.h"
#include "proto/contract/run_config.h"

namespace trainyard::trainer {

struct Failure {
  ExitCode code = ExitCode::kInternal;
  // One line: what happened and, if the settings are the cause, what to change.
  std::string message;
};

// A TrainerError keeps its code. Out of memory on the device or the host is kBadConfig, because the
// same settings would fail again. Any other error is kInternal. `config`: the run's settings if
// known; used to explain a shortage of GPU memory.
Failure FailureOf(const std::exception& error, const RunConfig* config = nullptr);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PROCESS_FAILURE_H_
