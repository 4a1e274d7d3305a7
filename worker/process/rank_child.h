// Implements the start of a rank, from the fork by the shim to execve.
#ifndef TRAINYARD_WORKER_PROCESS_RANK_CHILD_H_
#define TRAINYARD_WORKER_PROCESS_RANK_CHILD_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/files/unique_fd.h"
#include "worker/process/rank_files.h"

namespace trainyard::worker {

// The reason why the program of a rank could not be executed.
struct StartFailure {
  std::string cause;
  // True if the node could not have executed any program (no memory, a damaged disk). False if only
  // this program or its working directory is missing or unusable.
  bool node_at_fault = false;
};

// The standard descriptors of a program. kNullInput stands for /dev/null.
struct StandardFds {
  static constexpr int kNullInput = -1;
  int input = kNullInput;
  int output = -1;
  int error = -1;
  // `input` is a terminal, which becomes the controlling terminal of the program's session.
  bool terminal = false;
};

// The life of a forked program after the process that has forked it.
enum class AfterParent {
  kContinues,  // A rank survives its shim.
  kIsKilled,
};

// A forked rank that waits for Release before it executes its program. If this object is destroyed
// first, or the shim is killed, the rank ends without executing the program.
class HeldRank {
 public:
  // Forks, and returns when the child is ready. The child then leads its own session and process
  // group. It has no other descriptors of the shim than `fds` and uses the default signal actions.
  // `memory_killer_score` was written to its /proc/self/oom_score_adj. Call only from a
  // single-threaded process.
  static absl::StatusOr<HeldRank> Fork(const RankCommand& command, const StandardFds& fds,
                                       const std::string& memory_killer_score,
                                       AfterParent after_parent = AfterParent::kContinues);

  pid_t pid() const { return pid_; }

  // Lets the rank execute its program. Returns nullopt on success. On failure returns the reason;
  // the child has then exited with 127.
  std::optional<StartFailure> Release();

 private:
  HeldRank(pid_t pid, UniqueFd channel) : pid_(pid), channel_(std::move(channel)) {}

  pid_t pid_;
  // The stream socket to the child. The child sends 'r' (ready); then the shim sends 'g' (go). If
  // the program cannot be executed, the child then sends the side at fault ('n' node, 'j' job) and
  // an error text. If the program is executed, execve closes the child's end of the socket.
  UniqueFd channel_;
};

// Lowers, if permitted, this process's score for the kernel's out-of-memory killer. The shim is
// protected, because killing it would free little memory but lose the exit of its rank. Returns the
// former score, which must be restored in the rank; empty if unknown.
std::string LowerMemoryKillerScore();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_CHILD_H_
