// The thread that keeps the leadership of this process, and names a successor for a hand-over.
#ifndef TRAINYARD_CONTROLLER_LOOP_LEADER_GUARD_H_
#define TRAINYARD_CONTROLLER_LOOP_LEADER_GUARD_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/api/context/hand_over_seat.h"
#include "controller/store/support/leader_seat.h"

namespace trainyard::controller {

// Exit status of a controller that no longer leads. The service manager starts it again as a
// standby. Part of the interface to service managers; never change it.
inline constexpr int kExitLeadershipLost = 3;

// Ends the process at once with kExitLeadershipLost, without an answer to anyone: another
// controller may lead by now.
[[noreturn]] void ExitWithoutLeadership(const absl::Status& cause);

class LeaderGuard : public HandOverSeat {
 public:
  // Called with the reason, perhaps on several threads. Daemons use ExitWithoutLeadership, which
  // does not return.
  using OnLost = std::function<void(const absl::Status& cause)>;

  // Called once a hand-over is due. Must return at once; the owner then ends the service and the
  // process. May be null.
  using OnHandOver = std::function<void()>;

  // `seat` must lead. Starts to renew the leadership.
  LeaderGuard(std::unique_ptr<LeaderSeat> seat, OnLost on_lost, OnHandOver on_hand_over = nullptr);
  // Stops renewing. A standby takes over as soon as the session of `seat` has ended.
  ~LeaderGuard() override;

  // Call before each answer to a caller. Calls on_lost if another controller may lead by now.
  void CheckMayAnswer() const;

  // Call if a worker has seen a leader of the higher term `term`. The thread then gives up the
  // leadership and calls on_lost. Does not block.
  void HigherTermSeen(int64_t term);

  absl::StatusOr<std::vector<StandbyReport>> Standbys() override;
  absl::Status Begin(const std::string& successor) override;
  void Cancel() override;
  void Finish() override;

 private:
  void Run();
  // Renews the leadership. If `higher_term` is not 0, a worker has seen a leader of this term, and
  // the leadership is abandoned instead. Returns false if the leadership is lost.
  bool Renew(int64_t higher_term);
  // Calls on_lost if `status` is the loss of the leadership.
  absl::Status Checked(absl::Status status) const;

  // The lock of the seat's functions other than MayAnswer.
  std::mutex seat_mutex_;
  const std::unique_ptr<LeaderSeat> seat_;
  const OnLost on_lost_;
  const OnHandOver on_hand_over_;
  bool hands_over_ = false;  // Guarded by seat_mutex_.
  // The last logged error of a renewal, which is not logged again. Used only on the thread.
  std::string error_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;    // Guarded by mutex_.
  int64_t higher_term_ = 0;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LOOP_LEADER_GUARD_H_
