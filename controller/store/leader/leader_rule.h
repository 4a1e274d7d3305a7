// The rule for the leader among several controllers on one database: pure, without clock and
// database. leader_kernel.h applies it.
#ifndef TRAINYARD_CONTROLLER_STORE_LEADER_LEADER_RULE_H_
#define TRAINYARD_CONTROLLER_STORE_LEADER_LEADER_RULE_H_

#include <cstdint>

namespace trainyard::controller {

// A leader renews its row at this interval.
inline constexpr int64_t kRenewEveryMs = 500;
// A candidate takes over if the row was not renewed for this time.
inline constexpr int64_t kTakeOverAfterMs = 2'500;
// A candidate looks at the row at this interval.
inline constexpr int64_t kCandidateEveryMs = 100;
// A candidate that may take over waits this long for transactions of the old leader. After that it
// ends their sessions.
inline constexpr int64_t kRowWaitMs = 200;
// A candidate that has ended the leader's session polls for its lock this often, at this interval.
inline constexpr int kLockPolls = 20;
inline constexpr int64_t kLockPollMs = kRowWaitMs / kLockPolls;
// A standby reports at this interval that it can take over.
inline constexpr int64_t kReportEveryMs = 500;
// A standby without a report for this time is not ready to take over.
inline constexpr int64_t kReadyWithinMs = 1'500;
// Other standbys wait this long for the named successor of a leader.
inline constexpr int64_t kSuccessorWaitMs = 2'500;
// The named successor looks at the row at this interval.
inline constexpr int64_t kSuccessorEveryMs = 10;

// Returns true if the leader of `term` may write while the leader's row names `row_term`. The row
// stays locked until the end of the writing transaction, so the answer stays true until then.
constexpr bool MayWrite(int64_t term, int64_t row_term) { return term > 0 && term == row_term; }

// Returns the term that a take-over begins. A term never begins twice.
constexpr int64_t NextTerm(int64_t seen_term) { return seen_term + 1; }

// The successor that the leader has named for a hand-over, as a candidate sees it. All times are by
// the clock of the database.
struct SuccessorView {
  bool is_named = false;
  // The successor is the candidate itself.
  bool is_this = false;
  int64_t named_ms = 0;     // Time since the leader named it.
  int64_t reported_ms = 0;  // Time since its last report as a standby.
};

// Returns true if the candidate must leave the leadership to the successor. Both limits keep a dead
// successor from delaying a take-over.
constexpr bool YieldsTo(const SuccessorView& view) {
  return view.is_named && !view.is_this && view.named_ms < kSuccessorWaitMs &&
         view.reported_ms < kReadyWithinMs;
}

// Returns true if the candidate is the successor of a hand-over in progress.
constexpr bool IsSuccessor(const SuccessorView& view) {
  return view.is_named && view.is_this && view.named_ms < kSuccessorWaitMs;
}

// The leader as a candidate sees it.
struct LeaderView {
  // The time since the last renewal, by the clock of the database. The clocks of the controllers
  // do not matter.
  int64_t unrenewed_ms = 0;
  // The candidate's session holds the advisory lock. Each leader holds this lock from before the
  // begin of its term to the end of its session, so no leader has a session if a candidate holds
  // it.
  bool has_lock = false;
  // The time since the candidate got the lock, by its own monotonic clock.
  int64_t locked_ms = 0;
  // The candidate saw the leader before it got the lock, in the same session. The server then
  // released the lock because the leader's connection has ended, so the leader knows that it no
  // longer leads. Otherwise the server itself may have been restarted, and a leader that is cut off
  // from it answers callers until its last renewal is too old.
  bool saw_leader = true;
  SuccessorView successor;
};

enum class CandidateStep {
  kWait,
  // The leader hands over to another standby. Release the lock, and wait.
  kYield,
  // The old leader's session has ended.
  kTakeOver,
  // The old leader is stopped, or its machine or network has failed, but the server has not yet
  // noticed. End its session to get the lock, then take over.
  kEndSessionAndTakeOver,
};

constexpr CandidateStep NextStepOf(const LeaderView& view) {
  if (YieldsTo(view.successor)) return CandidateStep::kYield;
  if (view.has_lock) {
    const bool may_answer = !view.saw_leader && view.locked_ms < kTakeOverAfterMs &&
                            view.unrenewed_ms < kTakeOverAfterMs;
    return may_answer ? CandidateStep::kWait : CandidateStep::kTakeOver;
  }
  return view.unrenewed_ms >= kTakeOverAfterMs ? CandidateStep::kEndSessionAndTakeOver
                                               : CandidateStep::kWait;
}

// Returns true if another controller may lead by now. The leader must answer nobody until the next
// successful renewal. `since_renewal_ms` is the time since the leader sent its last successful
// renewal, by its own monotonic clock. The margin covers a clock that is slower than the database's
// clock.
constexpr bool MayBeReplaced(int64_t since_renewal_ms) {
  return since_renewal_ms >= kTakeOverAfterMs - kRenewEveryMs;
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LEADER_LEADER_RULE_H_
