// Exit code and message for an exception that ends the trainer.
#ifndef TRAINYARD_TRAINER_FAILURE_H_
#define TRAINYARD_TRAINER_FAILURE_H_

#include <exception>
#include <string>

#include "proto/contract/exit_code.h"
#include "proto/contract/run_config.h"

namespace trainyard::trainer {

struct Failure {
  ExitCode code = ExitCode::kInternal;
  // One line: what happened and, where settings are at fault, what to change.
  std::string message;
};

// A TrainerError keeps its own code. Memory that the device or the host does not have is a matter
// of the settings (kBadConfig): the same run would need it again. The rest is kInternal.
// `config`: the run's settings where they are known, for a device's shortage to be explained.
Failure FailureOf(const std::exception& error, const RunConfig* config = nullptr);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_FAILURE_H_
