// Notices that the worker's main thread is blocked, as by a disk that hangs.
#ifndef TRAINYARD_WORKER_LOOP_WATCH_H_
#define TRAINYARD_WORKER_LOOP_WATCH_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace trainyard::worker {

// Belongs to the watched thread.
class LoopWatch {
 public:
  struct Limits {
    // Time without a beat from which on the thread counts as blocked.
    std::chrono::milliseconds blocked_after{2000};
    // From then on `told` is called this often, and no more after `most`.
    std::chrono::milliseconds interval{1000};
    std::chrono::milliseconds most = std::chrono::minutes(2);
  };
  struct Blocked {
    std::chrono::milliseconds since{0};
    // Function of the kernel in which the thread waits; empty when the kernel does not tell.
    std::string waits_in;
  };

  // `told` is called on the watch's own thread. Throws std::system_error when the machine has no
  // thread left.
  LoopWatch(Limits limits, std::function<void(const Blocked&)> told);
  // Ends the watch; `told` is not running afterwards.
  ~LoopWatch();

  // The thread goes on. To be called several times within limits.blocked_after.
  void Beat();

 private:
  void Watch();
  std::chrono::milliseconds SinceBeat() const;

  const Limits limits_;
  const std::function<void(const Blocked&)> told_;
  const pid_t watched_thread_;
  std::atomic<std::chrono::steady_clock::duration> beat_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_LOOP_WATCH_H_
