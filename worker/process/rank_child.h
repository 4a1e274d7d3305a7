// The first instructions of a rank: from the shim's fork to execve.
#ifndef TRAINYARD_WORKER_PROCESS_RANK_CHILD_H_
#define TRAINYARD_WORKER_PROCESS_RANK_CHILD_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "proto/contract/unique_fd.h"
#include "worker/process/rank_files.h"

namespace trainyard::worker {

// Why a rank's program could not be executed.
struct StartFailure {
  std::string cause;
  // True when the node could not execute any program (no memory, a damaged disk), false when this
  // program or its working directory is missing or cannot be executed.
  bool node_at_fault = false;
};

// A forked rank that waits for Release before it executes its program. If this object goes first
// (or the shim is killed) the rank ends without having run anything.
class HeldRank {
 public:
  // Forks. The child leads a session and process group of its own when this returns; its stdin is
  // /dev/null, its stdout and stderr are `output`, no other descriptor of the shim stays open in
  // it, its signals have their default actions. `memory_killer_score` is what it gets in
  // /proc/self/oom_score_adj. Call from a single-threaded process only.
  static absl::StatusOr<HeldRank> Fork(const RankCommand& command, const UniqueFd& output,
                                       const std::string& memory_killer_score);

  pid_t pid() const { return pid_; }

  // Lets the rank execute. Returns the failure when that fails (the child has then exited with
  // 127), nothing when the program runs.
  std::optional<StartFailure> Release();

 private:
  HeldRank(pid_t pid, UniqueFd channel) : pid_(pid), channel_(std::move(channel)) {}

  pid_t pid_;
  // Stream socket to the child: 'r' up (ready), 'g' down (go), then the side at fault ('n' node,
  // 'j' job) and an error text, or end of file, up.
  UniqueFd channel_;
};

// Lowers the score by which the kernel chooses the process to kill when memory runs out, where
// permitted: the shim is small, and without it the exit of its rank is lost. Returns the former
// score, which the rank is to get back; empty when unknown.
std::string LowerMemoryKillerScore();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_CHILD_H_
