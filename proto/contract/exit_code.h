// Exit codes of a trainer, which its worker interprets. The names and the values up to 78 follow
// sysexits.h. Programs other than Trainyard's own trainer may use them, too.
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
  kDeviceFault = 71,       // The device's results are wrong; the next attempt avoids the node.
  kCannotWrite = 73,       // A checkpoint or telemetry file cannot be written.
  kBadCheckpoint = 74,     // The checkpoint to start from is damaged, unreadable or absent. The
                           // controller falls back to an older one.
  kTryAgain = 75,          // A temporary error, such as an occupied rendezvous port.
  kNotFinite = 76,         // The loss or the gradient norm is NaN or infinite.
  kFenced = 77,            // A newer attempt owns the checkpoint directory.
  kBadConfig = 78,         // The settings are wrong, unsupported, or need too much memory.
  kCannotExecute = 126,    // A shell's exit code for a file that is not executable.
  kCommandNotFound = 127,  // A shell's exit code for a missing program.
  kTerminated = 143,       // Exited after SIGTERM and a save.
};

// Returns the meaning of an exit code for users, such as "bad data"; empty if it has none.
std::string_view ExitCodeMeaning(int code);

// True if the job itself is at fault, so that a restart cannot help: kUsage, kBadData, kNoInput and
// kBadConfig.
bool BlamesJob(int code);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_EXIT_CODE_H_
