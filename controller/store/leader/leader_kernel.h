// The steps of one controller that leads or waits to lead: which action comes next, by the answers
// to the actions before it. Uses no database, thread or clock, so that PostgreSQL
// (postgres/leadership.h) and tests/simulation run the same rules.
#ifndef TRAINYARD_CONTROLLER_STORE_LEADER_LEADER_KERNEL_H_
#define TRAINYARD_CONTROLLER_STORE_LEADER_LEADER_KERNEL_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

// An action in the session of this controller.
enum class LeaderAction {
  // Take the advisory lock, without waiting.
  kTryLock,
  // Read the row of the leader.
  kLook,
  // End the session of the leader that the last kLook returned, unless it has renewed its row since
  // then. End a candidate's session, too, if it holds the lock but makes no progress.
  kEndLockHolder,
  // Take the advisory lock. If it is not free, wait for kLockPollMs.
  kPollLock,
  // Begin the term after seen_term(), unless the row no longer names seen_term(). Wait at most
  // kRowWaitMs for open transactions of the present leader; UNAVAILABLE after this time.
  kBeginTerm,
  // End the sessions that have an open transaction of a leader.
  kEndWriters,
  // Renew the row of term(). ABORTED if the row names another term.
  kRenew,
  // Release the advisory lock.
  kUnlock,
  // Write the report of this standby.
  kReport,
};

// The row of the leader.
struct LeaderRow {
  int64_t term = 0;
  std::string holder;
  int64_t session = 0;
  // See LeaderView::unrenewed_ms.
  int64_t unrenewed_ms = 0;
  // The standby to which the leader hands over; empty if there is none. See SuccessorView for the
  // times.
  std::string successor = {};
  int64_t named_ms = 0;
  int64_t reported_ms = 0;
  // See LeaderSeat::leader_page.
  std::string page = {};
  // The leader of this term has written kConfirmedNote (leader_notes.h).
  bool confirmed = false;
};

// The answer to an action. If `status` is an error, the fields after session_ended are not set.
struct LeaderAnswer {
  absl::Status status;
  bool session_ended = false;
  bool locked = false;  // For kTryLock and kPollLock.
  LeaderRow row;        // For kLook.
  int64_t term = 0;     // For kBeginTerm: the new term; 0 if another controller was faster.
};

enum class LeaderKind {
  kController,
  // A command that works on the stores of stopped controllers. It is no standby.
  kCommand,
};

class LeaderKernel {
 public:
  // `holder` names this controller.
  explicit LeaderKernel(std::string holder, LeaderKind kind = LeaderKind::kController)
      : holder_(std::move(holder)), kind_(kind) {}

  // Call when a candidate has a new session.
  void SessionOpened();

  // Begins a step: a candidate takes over if it may, and a leader renews its row.
  LeaderAction Begin(const ClockReading& now);
  // Returns the next action of the step, or nullopt at its end. result() is then set.
  std::optional<LeaderAction> Answered(LeaderAnswer answer, const ClockReading& now);
  // The result of the last step, as in LeaderSeat::Step.
  const absl::Status& result() const { return result_; }

  const std::string& holder() const { return holder_; }
  // See LeaderSeat for these functions.
  int64_t interval_ms() const;
  int64_t term() const { return term_; }
  const std::string& leader() const { return leader_; }
  int64_t leader_term() const { return leader_term_; }
  const std::string& leader_page() const { return row_.page; }
  bool ContinuesLog() const { return term_ > 1 && watched_confirmed_; }
  // Any thread may call this function once this controller leads.
  bool MayAnswer(const ClockReading& now) const;

  // The term and the session in the row that the last kLook returned.
  int64_t seen_term() const { return row_.term; }
  int64_t seen_session() const { return row_.session; }

 private:
  std::optional<LeaderAction> Finish(absl::Status result);
  std::optional<LeaderAction> Renewed(const LeaderAnswer& answer);
  std::optional<LeaderAction> Looked(LeaderAnswer answer, const ClockReading& now);
  std::optional<LeaderAction> Polled(const LeaderAnswer& answer, const ClockReading& now);
  // Records whether the candidate has the lock.
  void TakeLock(bool locked, const ClockReading& now);
  std::optional<LeaderAction> TermBegun(const LeaderAnswer& answer);
  // Writes the report of this standby if it is due.
  std::optional<LeaderAction> Report(const ClockReading& now);
  LeaderAction BeginTerm(const ClockReading& now);

  const std::string holder_;
  const LeaderKind kind_;
  bool has_lock_ = false;     // True if the present session has the lock.
  int64_t locked_at_ms_ = 0;  // The steady time at which the candidate got the lock.
  // The term in the row when the candidate last saw it without the lock; -1 if never.
  int64_t watched_term_ = -1;
  // At the last look: an earlier look in the same session had seen the leader.
  bool watched_leader_ = false;
  // At the last look: watched_leader_, and this leader had confirmed its log. A leader that has not
  // may have found lost events and exited because of them.
  bool watched_confirmed_ = false;
  int64_t term_ = 0;
  std::string leader_;
  int64_t leader_term_ = 0;
  // For a candidate, at its last look at the row: it leaves the leadership to the successor, or is
  // the successor.
  bool yields_ = false;
  bool is_successor_ = false;
  std::optional<int64_t> reported_ms_;  // The steady time of the last report.
  // The steady time before the last successful renewal was sent.
  std::atomic<int64_t> renewed_ms_ = 0;

  // The following fields belong to the present step.
  LeaderAction action_ = LeaderAction::kTryLock;
  LeaderRow row_;
  int64_t sent_ms_ = 0;
  int polls_ = 0;
  int take_overs_ = 0;
  absl::Status result_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_LEADER_LEADER_KERNEL_H_
