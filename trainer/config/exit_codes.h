// The trainer's exit codes, and the exception that carries one to main.
//
// The worker maps these codes to verdicts: 64, 65, 66 and 78 mean that trying again cannot help.
#ifndef TRAINYARD_TRAINER_CONFIG_EXIT_CODES_H_
#define TRAINYARD_TRAINER_CONFIG_EXIT_CODES_H_

#include <stdexcept>
#include <string>

namespace trainyard::trainer {

// Numbers of sysexits.h where it has one. Never renumbered: jobs' histories hold them.
enum class ExitCode : int {
  kFinished = 0,
  kBadCommandLine = 64,
  kBadData = 65,
  kInputMissing = 66,
  kLostPeer = 69,
  kInternal = 70,
  kCannotWrite = 73,
  kTryAgain = 75,
  kFenced = 77,
  kBadConfig = 78,
  kTerminated = 143,  // saved and left after SIGTERM
};

// Thrown anywhere in the trainer, caught once in main. The message is one line that a user can act
// on: what is wrong, where, and what to change.
class TrainerError : public std::runtime_error {
 public:
  TrainerError(ExitCode code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_EXIT_CODES_H_
