// Errors of the trainer: exceptions that contain the exit code with which the program ends.
#ifndef TRAINYARD_TRAINER_CONFIG_TRAINER_ERROR_H_
#define TRAINYARD_TRAINER_CONFIG_TRAINER_ERROR_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "proto/contract/exit_code.h"

namespace trainyard::trainer {

// An error that may be thrown anywhere in the trainer and is caught in main. The message is one
// sentence for the user, with the cause and the remedy.
class TrainerError : public std::runtime_error {
 public:
  TrainerError(ExitCode code, const std::string& message)
      : std::runtime_error(message), code_(code) {}

  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// An error that all ranks of the gang detect at the same step. Therefore only rank 0 writes the
// alert.
class GangError : public TrainerError {
 public:
  GangError(ExitCode code, const std::string& message, std::string alert, int64_t step,
            std::string samples)
      : TrainerError(code, message),
        alert_(std::move(alert)),
        step_(step),
        samples_(std::move(samples)) {}

  // Code of the alert, such as "nan_loss".
  const std::string& alert() const { return alert_; }
  int64_t step() const { return step_; }
  // Positions of the samples of the failed step, as "a:b".
  const std::string& samples() const { return samples_; }

 private:
  std::string alert_;
  int64_t step_;
  std::string samples_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_TRAINER_ERROR_H_
