// The thread that keeps the leadership of this process.
#ifndef TRAINYARD_CONTROLLER_LEADER_GUARD_H_
#define TRAINYARD_CONTROLLER_LEADER_GUARD_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "controller/store/support/leader_seat.h"

namespace trainyard::controller {

// Exit status of a controller that no longer leads. The service manager starts it again as a
// standby. Part of the interface to service managers; never change it.
inline constexpr int kExitLeadershipLost = 3;

// Ends the process at once with kExitLeadershipLost, without an answer to anyone: another
// controller may lead by now.
[[noreturn]] void ExitWithoutLeadership(const absl::Status& cause);

class LeaderGuard {
 public:
  // Called at most once, with the reason. The default for daemons is ExitWithoutLeadership.
  using OnLost = std::function<void(const absl::Status& cause)>;

  // `seat` must lead. Starts to renew the leadership.
  LeaderGuard(std::unique_ptr<LeaderSeat> seat, OnLost on_lost);
  // Stops renewing. A standby takes over as soon as the session of `seat` has ended.
  ~LeaderGuard();

  // Call before each answer to a caller. Calls on_lost if another controller may lead by now.
  void CheckMayAnswer() const;

 private:
  void Run();
  // Returns false if the leadership is lost.
  bool Renew();

  const std::unique_ptr<LeaderSeat> seat_;
  const OnLost on_lost_;
  // The last logged error of a renewal, which is not logged again. Used only on the thread.
  std::string error_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_LEADER_GUARD_H_
