// Detects that the main thread of the worker is blocked, for example by a hung disk.
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

// Watches the thread that creates this object. That thread must also use and destroy the object.
class LoopWatch {
 public:
  struct Limits {
    // A thread that has not called Beat for this long counts as blocked. Delays on a machine that
    // is merely busy are shorter.
    std::chrono::milliseconds blocked_after{5000};
    // The interval at which `on_blocked` is called while the thread is blocked.
    std::chrono::milliseconds interval{5000};
  };
  // Receives the name of the kernel function in which the thread waits; empty if unknown.
  using OnBlocked = std::function<void(const std::string& kernel_function)>;

  // Starts a thread, which calls `on_blocked`. Throws std::system_error if the machine cannot start
  // another thread.
  LoopWatch(Limits limits, OnBlocked on_blocked);
  // Waits until a running call of `on_blocked` returns.
  ~LoopWatch();

  // Tells the watch that the thread is not blocked. Call several times within limits.blocked_after.
  void Beat();

 private:
  void Watch();
  // Sleeps for `wait`. Returns false if the watch must stop.
  bool Sleep(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds wait);
  std::chrono::milliseconds SinceBeat() const;

  const Limits limits_;
  const OnBlocked on_blocked_;
  const pid_t watched_thread_;
  std::atomic<std::chrono::steady_clock::duration> beat_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool ending_ = false;  // Guarded by mutex_.
  std::thread thread_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_LOOP_WATCH_H_
