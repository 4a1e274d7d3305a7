// Exit codes of a trainer, read by its worker; named after sysexits.h. Any program may use them.
#ifndef TRAINYARD_PROTO_CONTRACT_EXIT_CODE_H_
#define TRAINYARD_PROTO_CONTRACT_EXIT_CODE_H_

#include <string_view>

namespace trainyard {

enum class ExitCode : int {
  kOk = 0,
  kUsage = 64,             // Bad command line.
  kBadData = 65,           // The data is damaged or does not fit the model.
  kNoInput = 66,           // An input file is missing or unreadable.
  kPeerLost = 69,          // Another rank exited or did not answer in time.
  kInternal = 70,          // A bug.
  kDeviceFault = 71,       // The device computes incorrectly: the next attempt avoids the node.
  kCannotWrite = 73,       // A checkpoint or telemetry file cannot be written.
  kBadCheckpoint = 74,     // The checkpoint to start from is damaged, unreadable or absent: the
                           // controller falls back to an older one.
  kTryAgain = 75,          // A temporary error, such as an occupied rendezvous port.
  kNotFinite = 76,         // The loss or the gradient norm is NaN or infinite.
  kFenced = 77,            // A newer attempt owns the checkpoint directory.
  kBadConfig = 78,         // The settings are wrong, unsupported, or need too much memory.
  kCannotExecute = 126,    // The shell's code for a program that is not executable.
  kCommandNotFound = 127,  // The shell's code for a missing program.
  kTerminated = 143,       // Saved and exited after SIGTERM.
};

// Meaning of an exit code for a person, such as "bad data"; empty if it has none.
std::string_view ExitCodeMeaning(int code);

// True when the job itself is at fault (kUsage, kBadData, kNoInput, kBadConfig): a restart cannot
// help.
bool BlamesJob(int code);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_EXIT_CODE_H_
