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

// Returns true if the leader of `term` may write while the leader's row names `row_term`. The row
// stays locked until the end of the writing transaction, so the answer stays true until then.
constexpr bool MayWrite(int64_t term, int64_t row_term) { return term > 0 && term == row_term; }

// Returns the term that a take-over begins. A term never begins twice.
constexpr int64_t NextTerm(int64_t seen_term) { return seen_term + 1; }

// The leader as a candidate sees it.
struct LeaderView {
  // The time since the last renewal, by the clock of the database. The clocks of the controllers
  // do not matter.
  int64_t unrenewed_ms = 0;
  // The candidate's session holds the advisory lock. Each leader holds this lock from before the
  // begin of its term to the end of its session, so no leader has a session if a candidate holds
  // it.
  bool has_lock = false;
};

enum class CandidateStep {
  kWait,
  // The old leader's session has ended.
  kTakeOver,
  // The old leader is stopped, or its machine or network has failed, but the server has not yet
  // noticed. End its session to get the lock, then take over.
  kEndSessionAndTakeOver,
};

constexpr CandidateStep NextStepOf(const LeaderView& view) {
  if (view.has_lock) return CandidateStep::kTakeOver;
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
