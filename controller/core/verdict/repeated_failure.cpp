#include "controller/core/verdict/repeated_failure.h"

#include <algorithm>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/starting_point.h"
#include "controller/core/verdict/cause_rules.h"
#include "controller/core/verdict/error_line.h"
#include "proto/contract/exit_code.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

// If a signal kills a program, its shell exits with this value plus the signal number.
constexpr int kShellSignalBase = 128;
constexpr int kHighestSignal = 64;

// Returns true for signals that an error in the program itself raises. Other signals come from
// outside.
bool IsOwnSignal(int signal) {
  return signal == SIGILL || signal == SIGTRAP || signal == SIGABRT || signal == SIGBUS ||
         signal == SIGFPE || signal == SIGSEGV || signal == SIGSYS;
}

// Returns false for exit codes that have their own restart rules, and for codes with a cause
// outside the program.
bool IsOwnCode(int code) {
  const bool is_signal = code > kShellSignalBase && code <= kShellSignalBase + kHighestSignal;
  if (is_signal) return IsOwnSignal(code - kShellSignalBase);
  switch (static_cast<ExitCode>(code)) {
    case ExitCode::kPeerLost:
    case ExitCode::kDeviceFault:
    case ExitCode::kCannotWrite:
    case ExitCode::kBadCheckpoint:
    case ExitCode::kTryAgain:
    case ExitCode::kNotFinite:
    case ExitCode::kFenced:
      return false;
    default:
      return true;
  }
}

// Returns true for errors of devices, networks and file systems, which may not recur.
bool IsOfSurroundings(const std::string& error_line) {
  static const RE2 kForms(
      R"((?i)\bECC\b|\bXid\b|NVLink|unspecified launch failure|device-side hardware|NCCL|Gloo|)"
      R"(DistNetworkError|connection (?:refused|reset|closed|aborted)|broken pipe|)"
      R"(timed? ?out|unreachable|temporarily unavailable|stale file handle|)"
      R"(input/output error|no space left|name resolution)");
  return RE2::PartialMatch(error_line, kForms);
}

bool IsOfProgram(const v1::Verdict& verdict) {
  if (IsOfSurroundings(verdict.error_line())) return false;
  if (RulesOf(verdict.cause()).reveals != Reveals::kByExit) return false;
  return verdict.cause() == v1::VERDICT_CAUSE_RANK_SIGNALED ? IsOwnSignal(verdict.signal())
                                                            : IsOwnCode(verdict.exit_code());
}

// Returns true if the attempt shows nothing about the program, so that the comparison of failures
// skips it.
bool IsUninformative(const v1::Verdict& verdict) {
  const Reveals reveals = RulesOf(verdict.cause()).reveals;
  return reveals == Reveals::kNothing || (reveals == Reveals::kByExit && !IsOfProgram(verdict));
}

// Returns the newest earlier attempt that reveals something about the program, if it failed because
// of the program. Otherwise returns nullptr.
const v1::Attempt* FailureBefore(const v1::Job& job) {
  for (int i = job.attempts_size() - 2; i >= 0; --i) {
    const v1::Attempt& attempt = job.attempts(i);
    if (IsUninformative(attempt.verdict())) continue;
    return IsOfProgram(attempt.verdict()) ? &attempt : nullptr;
  }
  return nullptr;
}

// A failed attempt, the step that it reached, and its end.
struct Failure {
  const v1::Attempt& attempt;
  int64_t last_step = 0;
  Timestamp ended_ms = 0;
};

bool MadeSteps(const Failure& failure) { return failure.last_step > failure.attempt.resume_step(); }

int64_t StepReached(const Failure& failure) {
  return std::max(failure.last_step, failure.attempt.resume_step());
}

// Returns false for an attempt that reported no steps but ran so long that it may have trained
// anyway.
bool IsStepKnown(const Failure& failure) {
  const int64_t life_ms = failure.ended_ms - failure.attempt.placed_time_ms();
  return MadeSteps(failure) || life_ms <= kLongestFailedStartMs;
}

bool IsSameError(const v1::Verdict& a, const v1::Verdict& b) {
  const bool known = !a.error_line().empty() && !b.error_line().empty();
  return a.cause() == b.cause() && a.rank() == b.rank() && a.exit_code() == b.exit_code() &&
         a.signal() == b.signal() && (!known || SameError(a.error_line(), b.error_line()));
}

constexpr char kAdvice[] =
    ", so another attempt would fail the same way; to retry anyway, add a rule `retry PATTERN` to "
    "restart.rules";

}  // namespace

bool IsSameProgramError(const v1::Verdict& a, const v1::Verdict& b) {
  return IsOfProgram(a) && IsSameError(a, b);
}

std::string WhyItWouldRepeat(const JobEntry& entry, int64_t last_step, Timestamp now) {
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr || !IsOfProgram(newest->verdict())) return "";
  const v1::Attempt* attempt_before = FailureBefore(entry.job);
  if (attempt_before == nullptr || PublishedNewerCheckpoint(entry)) return "";
  const Failure last{*newest, last_step, now};
  const Failure before{*attempt_before, attempt_before->last_step(),
                       attempt_before->ended_time_ms()};
  const bool is_same = IsSameError(newest->verdict(), attempt_before->verdict());
  if (!IsStepKnown(last) || !IsStepKnown(before)) return "";
  if (!MadeSteps(last) && !MadeSteps(before)) {
    const bool exited = newest->verdict().signal() == 0 && attempt_before->verdict().signal() == 0;
    if (!exited && !is_same) return "";
    return absl::StrCat("attempt ", attempt_before->number(), " also failed before its first step",
                        kAdvice);
  }
  if (!is_same || StepReached(last) != StepReached(before)) return "";
  return absl::StrCat("attempt ", attempt_before->number(), " failed in the same way at step ",
                      StepReached(last), ", with no newer checkpoint in between", kAdvice);
}

}  // namespace trainyard::controller
