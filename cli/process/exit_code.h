// Exit codes of the program. The numbers must never change, because scripts rely on them.
#ifndef TRAINYARD_CLI_PROCESS_EXIT_CODE_H_
#define TRAINYARD_CLI_PROCESS_EXIT_CODE_H_

#include "absl/status/status.h"

namespace trainyard::cli {

enum class ExitCode {
  kOk = 0,
  kFailed = 1,
  kUsage = 2,        // Wrong command line or job file.
  kNotFound = 3,     // No such job, node, recipe or key.
  kRefused = 4,      // The controller refused the request.
  kJobFailed = 5,    // The job that the command followed did not succeed.
  kTimeout = 6,      // --timeout ran out.
  kUnreachable = 7,  // No controller answered.
  kTimeLimit = 8,    // The job that the command followed ended by its time limit.
  // Commands that return the exit code of a program of the user:
  kTimeLimitOfProgram = 124,  // The time limit of the job ended the program, as for timeout(1).
  kOwnFailure = 125,          // The command itself failed, as for `docker run`.
  kInterrupted = 130          // Ctrl-C.
};

// Returns the exit code of a program that the signal ended, as shells report it.
inline ExitCode ExitCodeOfSignal(int signal) {
  constexpr int kSignalCodes = 128;
  return static_cast<ExitCode>(kSignalCodes + signal);
}

inline ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return ExitCode::kUsage;
    case absl::StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kAborted:
      return ExitCode::kRefused;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kUnreachable;
    default:
      return ExitCode::kFailed;
  }
}

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_PROCESS_EXIT_CODE_H_
