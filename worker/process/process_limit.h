// Prevents a rank that starts processes endlessly from using up the process limit of its user.
#ifndef TRAINYARD_WORKER_PROCESS_PROCESS_LIMIT_H_
#define TRAINYARD_WORKER_PROCESS_PROCESS_LIMIT_H_

#include <cstdint>

namespace trainyard::worker {

// Returns the maximum number of processes and threads on this machine.
int64_t ProcessesOfMachine();

// Lowers the process limit (RLIMIT_NPROC) of this process and its children below the worker's own
// limit. When the user's processes reach the lower limit, a rank cannot start more processes, but
// the worker can still start threads and shims. Has no effect for root.
void LeaveProcessesForWorker();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_PROCESS_LIMIT_H_
