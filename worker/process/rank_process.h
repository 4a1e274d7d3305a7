// Starts, finds again, watches and signals the ranks of this node, each under a shim process that
// outlives the worker.
//
// Any thread may call these functions, but calls for one rank must not overlap. They touch the
// disk, and Launch waits for the shim (tens of milliseconds), so a loop thread should leave them to
// a helper thread.
#ifndef TRAINYARD_WORKER_PROCESS_RANK_PROCESS_H_
#define TRAINYARD_WORKER_PROCESS_RANK_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/contract/unique_fd.h"
#include "proto/support/clock.h"
#include "worker/process/rank_files.h"

namespace trainyard::worker {

// Starts ranks by running SHIM_PROGRAM with the arguments `shim --dir RANK_DIR`. That program must
// then call RunShim (shim.h).
class RankLauncher {
 public:
  // The worker's own binary: "/proc/self/exe" resolved, so that an upgrade on disk cannot mix
  // versions in one start.
  explicit RankLauncher(std::string shim_program,
                        std::chrono::milliseconds answer_limit = std::chrono::seconds(10));

  // Starts the rank, at most once for each place, whose directory must exist. OK means that a shim
  // has taken over and will write the outcome to exit.json, also when the program cannot be
  // executed (missing, not executable, no working directory): that is an exit with spawn_error. On
  // an error no rank runs: ALREADY_EXISTS when it was started before or a process of it runs (the
  // rank may run then), INVALID_ARGUMENT for an empty argv, a NUL byte or a '=' in a variable's
  // name, RESOURCE_EXHAUSTED, PERMISSION_DENIED or INTERNAL when files or processes cannot be made,
  // DEADLINE_EXCEEDED when the shim does not answer within the limit (the shim may still start
  // then: use ReadRankState).
  absl::Status Launch(const RankPlace& place, RankCommand command) const;

 private:
  // Reaps a child that was killed, once the kernel lets it end: on a thread of its own or, where
  // the machine has none left, at a later launch.
  void ReapLater(pid_t pid) const;
  void ReapUnreaped() const;

  const std::string shim_program_;
  const std::chrono::milliseconds answer_limit_;
  mutable std::mutex mutex_;
  mutable std::vector<pid_t> unreaped_;
};

enum class RankPresence {
  kNeverStarted,  // No shim ever started here; Launch may be called.
  kStarting,      // A shim lives and there is no shim.json and no process of the rank: ask again.
  kRunning,       // The rank's process lives, or its shim is about to record how it ended.
  kExited,        // exit.json is written.
  kVanished,      // Shim and rank are gone, or their records are, and left no exit.json.
};

struct RankState {
  RankPresence presence = RankPresence::kNeverStarted;
  // 0 before shim.json is written.
  pid_t rank_pid = 0;
  Timestamp started_ms = 0;
  // For kExited as recorded; for kVanished signal 9 and ended_ms 0.
  RankExit exit;
  // For kVanished: one sentence about the state that was found.
  std::string summary;
  // True while processes of an ended rank may be left. The attempt is not cleared before this is
  // false.
  bool processes_remain = false;
  // True when no shim will end these processes: SweepRank does.
  bool unattended = false;
  // True when the rank's process has ended, and its shim either has not recorded that yet or is
  // stopped.
  bool shim_overdue = false;
};

// The state of a rank, from its records and, where these do not say all, from the mark of its
// processes; used to reattach after a restart of the worker and as the fallback check on each
// heartbeat. Changes nothing. INTERNAL or PERMISSION_DENIED when the files cannot be read.
absl::StatusOr<RankState> ReadRankState(const RankPlace& place);

// Kills what an ended rank without a shim has left.
void SweepRank(const RankPlace& place);

// Sends SIGCONT or SIGKILL to the rank's shim. NOT_FOUND when none lives. FAILED_PRECONDITION: a
// shim that waits in the kernel, as for a disk, is not killed, since it writes its record later.
absl::Status SignalShim(const RankPlace& place, int signal);

// A descriptor (pidfd, CLOEXEC) that becomes readable when the shim has ended (the rank itself, if
// its shim was killed): read the state then. Fits epoll and asio::posix::stream_descriptor::
// async_wait. NOT_FOUND when shim and rank have ended: read the state now. UNIMPLEMENTED on kernels
// before 5.3: rely on the heartbeat check.
absl::StatusOr<UniqueFd> OpenExitWatch(const std::string& rank_dir);

enum class RankSignal {
  kTerminate,  // SIGTERM to the process group: save and leave.
  kKill,       // SIGKILL to the group and all marked processes; noted in kill.json first.
  kSaveNow,    // SIGUSR1 to the rank itself.
};

// Signals a rank after checking that the pid is still the process that was started. NOT_FOUND when
// the rank does not run (any more). FAILED_PRECONDITION for kSaveNow when the program has no
// handler for SIGUSR1: the signal would kill it.
absl::Status SignalRank(const RankPlace& place, RankSignal signal);

// True when processes of the rank live and all of them wait in the kernel, where no signal reaches
// them.
bool WaitsInKernel(const RankPlace& place);

// The last whole lines of output.log, at most max_bytes, as valid UTF-8 (other bytes become
// U+FFFD). When the last line is longer, the end of that line. Empty when there is no output.
std::string ReadLogTail(const std::string& rank_dir, std::size_t max_bytes = 8192);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_PROCESS_H_
