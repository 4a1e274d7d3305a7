#include "controller/store/leader/leader_kernel.h"

#include "absl/strings/str_cat.h"
#include "controller/store/leader/leader_rule.h"

namespace trainyard::controller {
namespace {

// The number of times that blocking sessions are ended for one take-over. Several are needed only
// if the old leader opens transactions meanwhile.
constexpr int kTakeOverAttempts = 5;

}  // namespace

void LeaderKernel::SessionOpened() {
  has_lock_ = false;
  yields_ = false;
  watched_term_ = -1;
  watched_leader_ = false;
  watched_confirmed_ = false;
}

int64_t LeaderKernel::interval_ms() const {
  if (term_ != 0) return kRenewEveryMs;
  return is_successor_ ? kSuccessorEveryMs : kCandidateEveryMs;
}

bool LeaderKernel::MayAnswer(const ClockReading& now) const {
  return term_ != 0 && !MayBeReplaced(now.steady_ms - renewed_ms_);
}

LeaderAction LeaderKernel::Begin(const ClockReading& now) {
  polls_ = 0;
  take_overs_ = 0;
  sent_ms_ = now.steady_ms;
  if (term_ != 0) return action_ = LeaderAction::kRenew;
  return action_ = has_lock_ || yields_ ? LeaderAction::kLook : LeaderAction::kTryLock;
}

std::optional<LeaderAction> LeaderKernel::Answered(LeaderAnswer answer, const ClockReading& now) {
  if (action_ == LeaderAction::kRenew) return Renewed(answer);
  if (action_ == LeaderAction::kBeginTerm) return TermBegun(answer);
  if (!answer.status.ok()) return Finish(std::move(answer.status));
  switch (action_) {
    case LeaderAction::kTryLock:
      TakeLock(answer.locked, now);
      return action_ = LeaderAction::kLook;
    case LeaderAction::kLook:
      return Looked(std::move(answer), now);
    case LeaderAction::kEndLockHolder:
      return action_ = LeaderAction::kPollLock;
    case LeaderAction::kPollLock:
      return Polled(answer, now);
    case LeaderAction::kEndWriters:
      return BeginTerm(now);
    case LeaderAction::kUnlock:
      has_lock_ = false;
      return Report(now);
    default:  // kReport
      reported_ms_ = sent_ms_;
      return Finish(absl::OkStatus());
  }
}

std::optional<LeaderAction> LeaderKernel::Finish(absl::Status result) {
  result_ = std::move(result);
  return std::nullopt;
}

std::optional<LeaderAction> LeaderKernel::Renewed(const LeaderAnswer& answer) {
  // The lock ended with the session, so another controller may lead. A new session would not help.
  if (!answer.status.ok() && answer.session_ended) {
    return Finish(absl::AbortedError(
        absl::StrCat(answer.status.message(), ". The session of the leader of term ", term_,
                     " has ended, so another controller may lead; this controller must exit")));
  }
  if (answer.status.ok()) renewed_ms_ = sent_ms_;
  return Finish(answer.status);
}

void LeaderKernel::TakeLock(bool locked, const ClockReading& now) {
  has_lock_ = locked;
  locked_at_ms_ = now.steady_ms;
}

std::optional<LeaderAction> LeaderKernel::Looked(LeaderAnswer answer, const ClockReading& now) {
  row_ = std::move(answer.row);
  leader_ = row_.holder;
  leader_term_ = row_.term;
  watched_leader_ = watched_term_ == row_.term;
  watched_confirmed_ = watched_leader_ && row_.confirmed;
  if (!has_lock_) watched_term_ = row_.term;
  // A process with the address of the leader replaces it.
  const bool saw_leader =
      watched_leader_ || row_.holder == holder_ || kind_ == LeaderKind::kCommand;
  const SuccessorView successor{.is_named = !row_.successor.empty(),
                                .is_this = row_.successor == holder_,
                                .named_ms = row_.named_ms,
                                .reported_ms = row_.reported_ms};
  yields_ = YieldsTo(successor);
  is_successor_ = IsSuccessor(successor);
  switch (NextStepOf({.unrenewed_ms = row_.unrenewed_ms,
                      .has_lock = has_lock_,
                      .locked_ms = now.steady_ms - locked_at_ms_,
                      .saw_leader = saw_leader,
                      .successor = successor})) {
    case CandidateStep::kWait:
      return Report(now);
    case CandidateStep::kYield:
      if (!has_lock_) return Report(now);
      return action_ = LeaderAction::kUnlock;
    case CandidateStep::kTakeOver:
      return BeginTerm(now);
    case CandidateStep::kEndSessionAndTakeOver:
      return action_ = LeaderAction::kEndLockHolder;
  }
  return Finish(absl::OkStatus());
}

std::optional<LeaderAction> LeaderKernel::Report(const ClockReading& now) {
  sent_ms_ = now.steady_ms;
  const bool is_due = !reported_ms_.has_value() || sent_ms_ - *reported_ms_ >= kReportEveryMs;
  if (!is_due || kind_ == LeaderKind::kCommand) return Finish(absl::OkStatus());
  return action_ = LeaderAction::kReport;
}

std::optional<LeaderAction> LeaderKernel::Polled(const LeaderAnswer& answer,
                                                 const ClockReading& now) {
  TakeLock(answer.locked, now);
  if (has_lock_) return BeginTerm(now);
  if (++polls_ == kLockPolls) return Finish(absl::OkStatus());
  return action_ = LeaderAction::kPollLock;
}

LeaderAction LeaderKernel::BeginTerm(const ClockReading& now) {
  sent_ms_ = now.steady_ms;
  ++take_overs_;
  return action_ = LeaderAction::kBeginTerm;
}

std::optional<LeaderAction> LeaderKernel::TermBegun(const LeaderAnswer& answer) {
  // A stopped leader in the middle of a transaction holds the row.
  if (absl::IsUnavailable(answer.status) && !answer.session_ended &&
      take_overs_ < kTakeOverAttempts) {
    return action_ = LeaderAction::kEndWriters;
  }
  if (!answer.status.ok() || answer.term == 0) return Finish(answer.status);
  renewed_ms_ = sent_ms_;
  leader_ = holder_;
  leader_term_ = answer.term;
  term_ = answer.term;
  return Finish(absl::OkStatus());
}

}  // namespace trainyard::controller
