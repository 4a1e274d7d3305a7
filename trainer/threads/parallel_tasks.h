// Independent tasks on several threads.
#ifndef TRAINYARD_TRAINER_THREADS_PARALLEL_TASKS_H_
#define TRAINYARD_TRAINER_THREADS_PARALLEL_TASKS_H_

#include <cstddef>
#include <functional>

namespace trainyard::trainer {

// Threads that ParallelTasks uses for so many tasks, at most `limit`; at least one.
size_t ThreadsFor(size_t tasks, size_t limit);

// Calls run(thread, task) for every task 0 to tasks - 1, on ThreadsFor(tasks, limit) threads; with
// one thread that is the caller, and on fewer where no further one can be made. Tasks begin in
// ascending order. When some throw, no further task begins, and the exception of the first task of
// them is thrown.
void ParallelTasks(size_t tasks, size_t limit,
                   const std::function<void(size_t thread, size_t task)>& run);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_THREADS_PARALLEL_TASKS_H_
