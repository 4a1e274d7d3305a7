// How the trainer fails: one exception type that carries the exit code that main returns.
#ifndef TRAINYARD_TRAINER_CONFIG_TRAINER_ERROR_H_
#define TRAINYARD_TRAINER_CONFIG_TRAINER_ERROR_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace trainyard::trainer {

// Exit codes of the trainer, named after sysexits.h. The worker maps them to verdicts: 64, 65, 66
// and 78 mean that trying again cannot help.
enum class ExitCode : int {
  kOk = 0,
  kUsage = 64,        // Bad command line.
  kBadData = 65,      // The data is damaged or does not fit the model.
  kNoInput = 66,      // An input file is missing or unreadable.
  kPeerLost = 69,     // Another rank went away or did not answer in time.
  kInternal = 70,     // A bug, or numbers that are no longer finite.
  kCannotWrite = 73,  // A checkpoint or telemetry file cannot be written.
  // The checkpoint to start from is damaged, cannot be read, or is not there: the controller goes
  // back to an older one.
  kBadCheckpoint = 74,
  kTryAgain = 75,     // Passing trouble, such as a rendezvous port that is taken.
  kFenced = 77,       // A newer epoch owns the checkpoint directory.
  kBadConfig = 78,    // The settings are wrong or not supported.
  kTerminated = 143,  // Saved and left after SIGTERM.
};

// Thrown anywhere in the trainer and caught once, in main. The message is one sentence for a
// person with the cause and what to change.
class TrainerError : public std::runtime_error {
 public:
  TrainerError(ExitCode code, const std::string& message)
      : std::runtime_error(message), code_(code) {}

  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// What every rank of the gang finds at the same step, so that one alert, by rank 0, speaks for all.
class GangError : public TrainerError {
 public:
  GangError(ExitCode code, const std::string& message, std::string alert, int64_t step)
      : TrainerError(code, message), alert_(std::move(alert)), step_(step) {}

  // Such as "nan_loss".
  const std::string& alert() const { return alert_; }
  int64_t step() const { return step_; }

 private:
  std::string alert_;
  int64_t step_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_TRAINER_ERROR_H_
