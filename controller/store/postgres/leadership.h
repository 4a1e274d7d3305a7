// Leadership among several controllers on one schema.
//
// The row of the leader (leader_table.h) alone decides who leads. The advisory lock is the fast
// path: it is free as soon as the leader's process is dead. If the leader is stopped or cut off,
// the lock stays taken; then the time since the last renewal decides when a candidate ends the
// leader's session. For a hand-over, the leader names its successor in the row, and the other
// candidates leave the lock to it.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADERSHIP_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADERSHIP_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/postgres/postgres_database.h"
#include "controller/store/support/leader_seat.h"

namespace trainyard::controller {

class Leadership final : public LeaderSeat {
 public:
  // Connects and checks the right to end the leader's session. `holder` names this controller, for
  // messages. `version` is the release of its program, which it reports as a standby; empty for a
  // command that is no standby. PERMISSION_DENIED: the leader's session belongs to a user whose
  // sessions cannot be ended.
  static absl::StatusOr<std::unique_ptr<Leadership>> Open(const std::string& settings,
                                                          const std::string& holder,
                                                          const std::string& version = "");

  // Ends the session. A standby withdraws its report.
  ~Leadership() override;

  // Takes a few round trips, and at most a few seconds.
  absl::Status Step() override;
  int64_t interval_ms() const override;
  int64_t term() const override { return term_; }
  const std::string& leader() const override { return leader_; }
  int64_t leader_term() const override { return leader_term_; }
  void SetPosition(int64_t position) override { position_ = position; }
  absl::StatusOr<std::vector<StandbyReport>> Standbys() override;
  absl::Status NameSuccessor(const std::string& address) override;
  bool ContinuesLog() const override { return term_ > 1 && looks_in_session_ > 1; }
  bool MayAnswer() const override;

 private:
  Leadership(std::string settings, std::string holder, std::string version)
      : settings_(std::move(settings)), holder_(std::move(holder)), version_(std::move(version)) {}

  absl::Status Connect();
  absl::Status Renew();
  absl::Status Run();
  absl::StatusOr<bool> TryLock();
  // Releases the lock if this session has it.
  absl::Status Unlock();
  // Writes the report of this standby if one is due.
  absl::Status Report();
  // Waits until the ended session has released the lock.
  absl::StatusOr<bool> WaitForLock();
  absl::Status TakeOver(int64_t seen_term);

  const std::string settings_;
  const std::string holder_;
  const std::string version_;
  std::unique_ptr<PostgresDatabase> database_;
  bool has_lock_ = false;  // True if the session of database_ has the lock.
  int64_t term_ = 0;
  // The time before the last successful renewal was sent.
  std::atomic<std::chrono::steady_clock::time_point> renewed_;
  std::string leader_;
  int64_t leader_term_ = 0;
  // The number of times that a candidate has looked at the row in its present session.
  int64_t looks_in_session_ = 0;
  // For a candidate, at its last look at the row.
  bool yields_ = false;
  bool is_successor_ = false;
  int64_t position_ = 0;
  bool has_reported_ = false;
  std::chrono::steady_clock::time_point reported_;  // Time of the last report.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADERSHIP_H_
