// The exit code and the message for an exception that ends the trainer.
#ifndef TRAINYARD_TRAINER_PROCESS_FAILURE_H_
#define TRAINYARD_TRAINER_PROCESS_FAILURE_H_

#include <exception>
#include <string>

#include "proto/contract/exit_code.h"
#include "proto/contract/run_config.h"

namespace trainyard::trainer {

struct Failure {
  ExitCode code = ExitCode::kInternal;
  // One line that states what happened and, if the settings are the cause, what to change.
  std::string message;
};

// Returns the exit code and the message for an error. A TrainerError keeps its code. Lack of device
// or host memory is kBadConfig, because a retry with the same settings would fail again. Any other
// error is kInternal. `config` contains the settings of the run, if known, which explain a lack of
// GPU memory.
Failure FailureOf(const std::exception& error, const RunConfig* config = nullptr);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PROCESS_FAILURE_H_
