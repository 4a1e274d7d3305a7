// Runs independent tasks on several threads.
#ifndef TRAINYARD_TRAINER_THREADS_PARALLEL_TASKS_H_
#define TRAINYARD_TRAINER_THREADS_PARALLEL_TASKS_H_

#include <cstddef>
#include <functional>

namespace trainyard::trainer {

// The number of threads that ParallelTasks uses for `tasks` tasks: at least 1, at most `limit`.
size_t ThreadsFor(size_t tasks, size_t limit);

// Calls run(thread, task) for every task from 0 to tasks - 1. Uses ThreadsFor(tasks, limit)
// threads, including the caller's, or fewer if threads cannot be created. Tasks start in ascending
// order. After a task has thrown, no further task starts, and the exception of the failed task with
// the lowest number is rethrown.
void ParallelTasks(size_t tasks, size_t limit,
                   const std::function<void(size_t thread, size_t task)>& run);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_THREADS_PARALLEL_TASKS_H_
