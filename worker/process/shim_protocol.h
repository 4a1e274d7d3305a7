// Descriptors and variables through which a worker hands a rank over to its shim, in addition to
// the files of rank_files.h.
#ifndef TRAINYARD_WORKER_PROCESS_SHIM_PROTOCOL_H_
#define TRAINYARD_WORKER_PROCESS_SHIM_PROTOCOL_H_

namespace trainyard::worker {

// Write lock on kLockFile. The lock belongs to the open file, not to a process, so it passes from
// worker to shim without a gap and is released when its last holder ends.
inline constexpr int kShimLockFd = 3;
// Write end of a pipe. The shim writes kShimReadyAnswer once it has taken over, or else the error.
inline constexpr int kShimReadyFd = 4;

inline constexpr char kShimReadyAnswer[] = "ready";

// Prefix of the variables with the rank's secrets in the shim's environment: secret NAME is
// variable PREFIX + NAME.
inline constexpr char kShimSecretPrefix[] = "TRAINYARD_SHIM_SECRET_";

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_SHIM_PROTOCOL_H_
