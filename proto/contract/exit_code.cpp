#include "proto/contract/exit_code.h"

namespace trainyard {

std::string_view ExitCodeMeaning(int code) {
  switch (static_cast<ExitCode>(code)) {
    case ExitCode::kOk:
      return "";
    case ExitCode::kUsage:
      return "bad command line";
    case ExitCode::kBadData:
      return "bad data";
    case ExitCode::kNoInput:
      return "input missing";
    case ExitCode::kPeerLost:
      return "lost a peer";
    case ExitCode::kInternal:
      return "internal error";
    case ExitCode::kDeviceFault:
      return "its device computes wrong results";
    case ExitCode::kCannotWrite:
      return "cannot write";
    case ExitCode::kBadCheckpoint:
      return "cannot read its checkpoint";
    case ExitCode::kTryAgain:
      return "requests another try";
    case ExitCode::kNotFinite:
      return "the loss is not finite";
    case ExitCode::kFenced:
      return "fenced by a newer attempt";
    case ExitCode::kBadConfig:
      return "bad configuration";
    case ExitCode::kCannotExecute:
      return "program cannot be executed";
    case ExitCode::kCommandNotFound:
      return "program not found";
    case ExitCode::kTerminated:
      return "exited after a SIGTERM that the controller did not send";
  }
  return "";
}

bool BlamesJob(int code) {
  switch (static_cast<ExitCode>(code)) {
    case ExitCode::kUsage:
    case ExitCode::kBadData:
    case ExitCode::kNoInput:
    case ExitCode::kBadConfig:
      return true;
    default:
      return false;
  }
}

}  // namespace trainyard
