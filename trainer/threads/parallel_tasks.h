// Independent tasks on several threads.
#ifndef TRAINYARD_TRAINER_THREADS_PARALLEL_TASKS_H_
#define TRAINYARD_TRAINER_THREADS_PARALLEL_TASKS_H_

#include <cstddef>
#include <functional>

namespace trainyard::trainer {

// Number of threads ParallelTasks uses for `tasks` tasks: at least one, at most `limit`.
size_t ThreadsFor(size_t tasks, size_t limit);

// Calls run(thread, task) for every task 0 to tasks - 1 on ThreadsFor(tasks, limit) threads,
// including the caller's. Uses fewer if threads cannot be created. Tasks start in ascending order.
// After an exception no further task starts, and the exception of the lowest-numbered failed task
// is rethrown.
void ParallelTasks(size_t tasks, size_t limit,
                   const std::function<void(size_t thread, size_t task)>& run);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_THREADS_PARALLEL_TASKS_H_
