// Descriptors and variables that a worker passes to a shim, in addition to the files of
// rank_files.h.
#ifndef TRAINYARD_WORKER_PROCESS_SHIM_PROTOCOL_H_
#define TRAINYARD_WORKER_PROCESS_SHIM_PROTOCOL_H_

namespace trainyard::worker {

// The write lock on kLockFile. The lock belongs to the open file, not to a process. The lock
// therefore passes from worker to shim without a gap. It is released when the last process that has
// the file open ends.
inline constexpr int kShimLockFd = 3;
// The write end of a pipe. The shim writes kShimReadyAnswer after it has taken over, or an error
// text on failure.
inline constexpr int kShimReadyFd = 4;

inline constexpr char kShimReadyAnswer[] = "ready";

// The prefix of variables with the rank's secrets in the shim's environment. The value of secret
// NAME is in the variable PREFIX + NAME.
inline constexpr char kShimSecretPrefix[] = "TRAINYARD_SHIM_SECRET_";

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_SHIM_PROTOCOL_H_
