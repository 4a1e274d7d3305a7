#include "controller/core/verdict/exit_text.h"

#include <csignal>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "controller/core/verdict/error_line.h"
#include "proto/contract/exit_code.h"

namespace trainyard::controller {
namespace {

const char* SignalName(int signal) {
  switch (signal) {
    case 2:
      return "SIGINT";
    case 4:
      return "SIGILL";
    case 6:
      return "SIGABRT";
    case 7:
      return "SIGBUS";
    case 8:
      return "SIGFPE";
    case 9:
      return "SIGKILL";
    case 11:
      return "SIGSEGV";
    case 15:
      return "SIGTERM";
    default:
      return "";
  }
}

std::string WithMeaning(int number, std::string_view meaning) {
  if (meaning.empty()) return absl::StrCat(number);
  return absl::StrCat(number, " (", std::string(meaning), ")");
}

// Returns the signal that ended a process below the rank; 0 if none is known. A shell exits with
// 128 plus the signal of its command.
int FindSignalBelow(const v1::RankExited& exited) {
  constexpr int kShellBase = 128;
  const int of_shell = exited.exit_code() - kShellBase;
  const bool is_shell = of_shell > 0 && *SignalName(of_shell) != 0 && of_shell != SIGTERM;
  return is_shell ? of_shell : SignalBelow(exited.log_tail());
}

// Returns, for example, ", because SIGSEGV ended a process that it started". Empty without such a
// signal.
std::string TextOfSignalBelow(const v1::RankExited& exited) {
  const int signal = FindSignalBelow(exited);
  if (signal == 0) return "";
  const std::string name =
      *SignalName(signal) == 0 ? absl::StrCat("signal ", signal) : std::string(SignalName(signal));
  return absl::StrCat(", because ", name, " ended a process that it started",
                      signal == SIGKILL ? " (often the kernel, for lack of memory)" : "");
}

}  // namespace

v1::VerdictCause CauseOf(const v1::Attempt& attempt, const v1::RankExited& exited) {
  if (!exited.spawn_error().empty()) {
    return exited.start_fault() == v1::START_FAULT_NODE ? v1::VERDICT_CAUSE_NODE_FAULT
                                                        : v1::VERDICT_CAUSE_SPAWN_FAILED;
  }
  if (!exited.limit_exceeded().empty()) return v1::VERDICT_CAUSE_LIMIT_EXCEEDED;
  if (exited.out_of_memory()) return v1::VERDICT_CAUSE_OUT_OF_MEMORY;
  if (exited.signal() != 0) return v1::VERDICT_CAUSE_RANK_SIGNALED;
  if (BlamesJob(exited.exit_code())) return v1::VERDICT_CAUSE_BAD_JOB;
  // The exit code means a damaged checkpoint only if the attempt has a checkpoint to resume from.
  if (exited.exit_code() == static_cast<int>(ExitCode::kBadCheckpoint) &&
      !attempt.resume_from().empty()) {
    return v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED;
  }
  return v1::VERDICT_CAUSE_RANK_EXITED;
}

std::string WhatHappened(const v1::Attempt& attempt, const v1::RankExited& exited) {
  switch (CauseOf(attempt, exited)) {
    case v1::VERDICT_CAUSE_SPAWN_FAILED:
      return absl::StrCat("could not be started: ", exited.spawn_error());
    case v1::VERDICT_CAUSE_NODE_FAULT:
      return absl::StrCat("could not be started because of a fault of its node: ",
                          exited.spawn_error());
    case v1::VERDICT_CAUSE_LIMIT_EXCEEDED:
      return absl::StrCat("was ended by its node: ", exited.limit_exceeded());
    case v1::VERDICT_CAUSE_OUT_OF_MEMORY:
      return "was killed by the kernel because the node ran out of memory";
    case v1::VERDICT_CAUSE_RANK_SIGNALED:
      return absl::StrCat("was ended by signal ",
                          WithMeaning(exited.signal(), SignalName(exited.signal())));
    case v1::VERDICT_CAUSE_CHECKPOINT_DAMAGED:
      if (attempt.resume_step() == 0) {
        return absl::StrCat("could not read the checkpoint ", attempt.resume_from());
      }
      return absl::StrCat("could not read the checkpoint of step ", attempt.resume_step(), ", ",
                          attempt.resume_from());
    default:
      return absl::StrCat("exited with code ",
                          WithMeaning(exited.exit_code(), ExitCodeMeaning(exited.exit_code())),
                          TextOfSignalBelow(exited));
  }
}

}  // namespace trainyard::controller
