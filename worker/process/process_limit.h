// Keeps a rank that starts processes endlessly from using up its user's process limit.
#ifndef TRAINYARD_WORKER_PROCESS_PROCESS_LIMIT_H_
#define TRAINYARD_WORKER_PROCESS_PROCESS_LIMIT_H_

#include <cstdint>

namespace trainyard::worker {

// Maximum number of processes and threads on this machine.
int64_t ProcessesOfMachine();

// Lowers the user's process limit (RLIMIT_NPROC) of this process and its children to less than the
// worker's own limit. At that limit they can start no processes, but the worker can still start
// threads and shims. Not effective for root.
void LeaveProcessesForWorker();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_PROCESS_LIMIT_H_
