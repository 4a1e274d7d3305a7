// Keeps a rank that starts processes without end from taking all that its user may have.
#ifndef TRAINYARD_WORKER_PROCESS_PROCESS_LIMIT_H_
#define TRAINYARD_WORKER_PROCESS_PROCESS_LIMIT_H_

#include <cstdint>

namespace trainyard::worker {

// Processes and threads that this machine can hold.
int64_t ProcessesOfMachine();

// Limits the processes of this process's user that this process, and those it starts, can see
// before they can start no more: to some fewer than the worker's own limit, so that the worker can
// still start threads and shims. Does not hold for root.
void LeaveProcessesForWorker();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_PROCESS_LIMIT_H_
