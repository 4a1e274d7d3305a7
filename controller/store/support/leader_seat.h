// The leadership among several controllers on one store, as one of them sees it.
#ifndef TRAINYARD_CONTROLLER_STORE_SUPPORT_LEADER_SEAT_H_
#define TRAINYARD_CONTROLLER_STORE_SUPPORT_LEADER_SEAT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/support/standby_report.h"

namespace trainyard::controller {

// Used by one thread, except for MayAnswer.
class LeaderSeat {
 public:
  virtual ~LeaderSeat() = default;

  // A candidate takes over if it may; a leader renews its leadership. Call every interval_ms().
  // Takes at most a few seconds. ABORTED: this controller no longer leads and must exit. After any
  // other error, call again.
  virtual absl::Status Step() = 0;
  virtual int64_t interval_ms() const = 0;

  // The term that this controller leads; 0 for a candidate.
  virtual int64_t term() const = 0;
  // The leader and the term that the last step of a candidate saw; empty and 0 if there is none.
  virtual const std::string& leader() const = 0;
  virtual int64_t leader_term() const = 0;
  // The HOST:PORT of that leader's HTTP server (kPageNote in leader_notes.h); empty if unknown.
  virtual const std::string& leader_page() const = 0;

  // For a candidate: number of the last event that it has applied in advance; 0 if there is none.
  virtual void SetPosition(int64_t position) = 0;

  // For a leader: the standbys that have reported within the last minute, by address.
  virtual absl::StatusOr<std::vector<StandbyReport>> Standbys() = 0;
  // For a leader: names the standby that takes over when this leader's session ends. Other standbys
  // leave the leadership to it for a few seconds. Empty: no successor. ABORTED: this controller no
  // longer leads and must exit.
  virtual absl::Status NameSuccessor(const std::string& address) = 0;

  // For a leader: call if a worker has seen a leader of the higher term `seen`. If the store still
  // names this controller as the leader, the store is an older copy. The next term will then be
  // above `seen`, so that workers do not refuse its leader. Never returns OK. ABORTED: this
  // controller no longer leads and must exit. After any other error, call again.
  virtual absl::Status PassTerm(int64_t seen) = 0;

  // For a leader: true if it watched its predecessor in one session that lasted until the
  // take-over, and the predecessor had confirmed its log (kConfirmedNote). Replacing the store by
  // an older copy would have ended that session.
  virtual bool ContinuesLog() const = 0;

  // True as long as no other controller can have taken over: the last renewal is recent, by the
  // monotonic clock of this process, and its session has not ended. While it is false, the leader
  // must answer nobody. Once this controller leads, any thread may call this function.
  virtual bool MayAnswer() const = 0;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SUPPORT_LEADER_SEAT_H_
