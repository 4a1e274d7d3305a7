// Runs tasks in order on a dedicated thread.
#ifndef TRAINYARD_TRAINER_THREADS_TASK_THREAD_H_
#define TRAINYARD_TRAINER_THREADS_TASK_THREAD_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace trainyard::trainer {

class TaskThread {
 public:
  TaskThread();
  // Waits until all queued tasks have run.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // Queues a task. The future becomes ready when the task has returned, or contains what the task
  // has thrown.
  std::future<void> Add(std::function<void()> task);

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;  // The last member, because the thread uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_THREADS_TASK_THREAD_H_
