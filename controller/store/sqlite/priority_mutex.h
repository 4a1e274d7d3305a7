// A mutex with two priorities: urgent work and background work.
#ifndef TRAINYARD_CONTROLLER_STORE_SQLITE_PRIORITY_MUTEX_H_
#define TRAINYARD_CONTROLLER_STORE_SQLITE_PRIORITY_MUTEX_H_

#include <condition_variable>
#include <mutex>

namespace trainyard::controller {

// lock() waits only for the current holder and for other urgent users. lock() gets the mutex before
// all threads that wait in LockBehind(). Background work should be divided into short pieces, each
// with a lock of its own (BackgroundLock). An urgent user then waits for at most one piece,
// regardless of how the system schedules threads.
class PriorityMutex {
 public:
  // Locks the mutex for urgent work. std::lock_guard requires the name lock().
  void lock() {
    std::unique_lock lock(mutex_);
    ++urgent_waiting_;
    free_.wait(lock, [this] { return !held_; });
    --urgent_waiting_;
    held_ = true;
  }

  void LockBehind() {
    std::unique_lock lock(mutex_);
    free_.wait(lock, [this] { return !held_ && urgent_waiting_ == 0; });
    held_ = true;
  }

  void unlock() {
    {
      const std::lock_guard lock(mutex_);
      held_ = false;
    }
    free_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable free_;
  // Guarded by mutex_.
  bool held_ = false;
  int urgent_waiting_ = 0;
};

// Locks the mutex for a short piece of background work.
class BackgroundLock {
 public:
  explicit BackgroundLock(PriorityMutex& mutex) : mutex_(mutex) { mutex_.LockBehind(); }
  BackgroundLock(const BackgroundLock&) = delete;
  BackgroundLock& operator=(const BackgroundLock&) = delete;
  ~BackgroundLock() { mutex_.unlock(); }

 private:
  PriorityMutex& mutex_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQLITE_PRIORITY_MUTEX_H_
