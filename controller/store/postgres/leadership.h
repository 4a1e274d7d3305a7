// Leadership among several controllers on one schema.
//
// The row of the leader (leader_table.h) alone decides who leads. The advisory lock is the fast
// path: it is free as soon as the leader's process is dead. If the leader is stopped or cut off,
// the lock stays taken; then the time since the last renewal decides when a candidate ends the
// leader's session. For a hand-over, the leader names its successor in the row, and the other
// candidates leave the lock to it. leader/leader_kernel.h has the steps; this class carries out
// their actions.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADERSHIP_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADERSHIP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/store/leader/leader_kernel.h"
#include "controller/store/postgres/postgres_database.h"
#include "controller/store/support/leader_seat.h"
#include "proto/files/unique_fd.h"
#include "proto/support/clock.h"

namespace trainyard::controller {

class Leadership final : public LeaderSeat {
 public:
  // Connects and checks the right to end the leader's session. `holder` names this controller, for
  // messages; `version` is the release of its program. PERMISSION_DENIED: the leader's session
  // belongs to a user whose sessions cannot be ended.
  static absl::StatusOr<std::unique_ptr<Leadership>> Open(
      const std::string& settings, const std::string& holder, const std::string& version = "",
      LeaderKind kind = LeaderKind::kController);

  // Ends the session. A standby withdraws its report.
  ~Leadership() override;

  // Takes a few round trips, and at most a few seconds.
  absl::Status Step() override;
  int64_t interval_ms() const override { return kernel_.interval_ms(); }
  int64_t term() const override { return kernel_.term(); }
  const std::string& leader() const override { return kernel_.leader(); }
  int64_t leader_term() const override { return kernel_.leader_term(); }
  const std::string& leader_page() const override { return kernel_.leader_page(); }
  void SetPosition(int64_t position) override { position_ = position; }
  absl::StatusOr<std::vector<StandbyReport>> Standbys() override;
  absl::Status NameSuccessor(const std::string& address) override;
  absl::Status PassTerm(int64_t seen) override;
  bool ContinuesLog() const override { return kernel_.ContinuesLog(); }
  bool MayAnswer() const override { return kernel_.MayAnswer(clock_.Read()) && !SessionHasEnded(); }

 private:
  Leadership(std::string settings, std::string holder, std::string version, LeaderKind kind)
      : settings_(std::move(settings)),
        version_(std::move(version)),
        kernel_(std::move(holder), kind) {}

  absl::Status Connect();
  // True if the server has closed the connection. May be called on any thread.
  bool SessionHasEnded() const;
  LeaderAnswer Answer(LeaderAction action);
  absl::Status CarryOut(LeaderAction action, LeaderAnswer& answer);
  absl::Status Look(LeaderRow& row);
  absl::Status PollLock(bool& locked);
  absl::Status Renew();
  // Writes the report of this standby.
  absl::Status Report();

  const std::string settings_;
  const std::string version_;
  // Its steady clock counts suspended time, in which another controller may have taken over.
  const SystemClock clock_;
  LeaderKernel kernel_;
  std::unique_ptr<PostgresDatabase> database_;
  // The socket of the session again, which stays valid when libpq closes its own. A leader never
  // replaces it.
  UniqueFd socket_;
  int64_t position_ = 0;
  bool has_reported_ = false;  // True if this standby has written a report.
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADERSHIP_H_
