#include "trainer/threads/parallel_tasks.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace trainyard::trainer {
namespace {

class TaskQueue {
 public:
  TaskQueue(size_t tasks, const std::function<void(size_t, size_t)>& run)
      : tasks_(tasks), run_(run) {}

  void Work(size_t thread) {
    for (size_t task = Next(); task < tasks_; task = Next()) {
      try {
        run_(thread, task);
      } catch (...) {
        Fail(task, std::current_exception());
      }
    }
  }

  void ThrowFailure() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  size_t Next() {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr ? tasks_ : next_++;
  }

  void Fail(size_t task, std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ != nullptr && failed_ < task) return;
    failed_ = task;
    failure_ = std::move(failure);
  }

  const size_t tasks_;
  const std::function<void(size_t, size_t)>& run_;
  std::mutex mutex_;  // Guards the members below.
  size_t next_ = 0;
  size_t failed_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

size_t ThreadsFor(size_t tasks, size_t limit) { return std::clamp<size_t>(tasks, 1, limit); }

void ParallelTasks(size_t tasks, size_t limit,
                   const std::function<void(size_t thread, size_t task)>& run) {
  TaskQueue queue(tasks, run);
  std::vector<std::thread> others;
  try {
    for (size_t thread = 1; thread < ThreadsFor(tasks, limit); ++thread) {
      others.emplace_back([&queue, thread] { queue.Work(thread); });
    }
  } catch (const std::system_error&) {
    // The system could not create a thread. The existing threads run all tasks.
  }
  queue.Work(0);
  for (std::thread& other : others) other.join();
  queue.ThrowFailure();
}

}  // namespace trainyard::trainer
