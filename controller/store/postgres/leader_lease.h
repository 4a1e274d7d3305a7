// The lease of a controller that leads alone: a thread that renews the leadership.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADER_LEASE_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADER_LEASE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "absl/status/status.h"
#include "controller/store/postgres/leadership.h"
#include "controller/store/support/store_lease.h"

namespace trainyard::controller {

class LeaderLease : public StoreLease {
 public:
  using OnLost = std::function<void(const absl::Status& cause)>;

  // `leadership` must lead. `on_lost` is called on the thread, at most once.
  LeaderLease(std::unique_ptr<Leadership> leadership, OnLost on_lost);
  // Ends the session. The next controller can lead at once.
  ~LeaderLease() override;

 private:
  void Run();

  const std::unique_ptr<Leadership> leadership_;  // Used only on the thread.
  const OnLost on_lost_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_LEADER_LEASE_H_
