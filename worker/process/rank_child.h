// The first instructions of a rank: from the shim's fork to execve.
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

// Reason why a rank's program could not be executed.
struct StartFailure {
  std::string cause;
  // True when the node could not execute any program (no memory, a damaged disk). False when this
  // program or its working directory is missing or not executable.
  bool node_at_fault = false;
};

// A forked rank that waits for Release before it executes its program. If this object is destroyed
// first (or the shim is killed), the rank ends without running anything.
class HeldRank {
 public:
  // Forks. When this returns, the child leads its own session and process group, its stdin is
  // /dev/null, its stdout and stderr are `output`, all other descriptors of the shim are closed in
  // it, and its signals have their default actions. `memory_killer_score` is written to its
  // /proc/self/oom_score_adj. Call only from a single-threaded process.
  static absl::StatusOr<HeldRank> Fork(const RankCommand& command, const UniqueFd& output,
                                       const std::string& memory_killer_score);

  pid_t pid() const { return pid_; }

  // Lets the rank execute its program. On failure returns the reason (the child has then exited
  // with 127), else nullopt.
  std::optional<StartFailure> Release();

 private:
  HeldRank(pid_t pid, UniqueFd channel) : pid_(pid), channel_(std::move(channel)) {}

  pid_t pid_;
  // Stream socket to the child. The child sends 'r' (ready), the shim sends 'g' (go). The child
  // then sends the side at fault ('n' node, 'j' job) and an error text, or closes it.
  UniqueFd channel_;
};

// Lowers, if permitted, the score by which the kernel chooses the process to kill when memory runs
// out: the shim is small, and without it the exit of its rank is lost. Returns the former score, to
// be restored in the rank; empty if unknown.
std::string LowerMemoryKillerScore();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_CHILD_H_
