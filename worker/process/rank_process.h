// Starts, finds, watches and signals the ranks of this node. Each rank runs under a shim process
// that outlives the worker.
//
// Any thread may call these functions, but calls for the same rank must not overlap. The functions
// access the disk, and Launch waits for the shim (tens of milliseconds), so a loop thread should
// call them on a helper thread.
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
#include "proto/files/unique_fd.h"
#include "proto/support/clock.h"
#include "worker/process/rank_files.h"

namespace trainyard::worker {

// Starts ranks by executing SHIM_PROGRAM with the arguments `shim --dir RANK_DIR`. SHIM_PROGRAM
// must call RunShim (shim.h).
class RankLauncher {
 public:
  // `shim_program` is the resolved path of the worker's own binary ("/proc/self/exe"), so that
  // worker and shim have the same version even after an upgrade on disk.
  explicit RankLauncher(std::string shim_program,
                        std::chrono::milliseconds answer_limit = std::chrono::seconds(10));

  // Starts the rank, at most once per place. The place's directory must exist. OK means that a shim
  // has taken over and will write the outcome to exit.json. One possible outcome is an exit with
  // spawn_error: the program cannot be executed (missing, not executable, no working directory).
  //
  // After an error no rank runs, except as stated here. ALREADY_EXISTS: the rank was started
  // before, or a process of it runs; the rank may be running. INVALID_ARGUMENT: empty argv, a NUL
  // byte, or a '=' in the name of a variable. RESOURCE_EXHAUSTED, PERMISSION_DENIED or INTERNAL:
  // files or processes cannot be created. DEADLINE_EXCEEDED: the shim does not answer within the
  // limit; it may still start the rank, so call ReadRankState.
  absl::Status Launch(const RankPlace& place, RankCommand command) const;

 private:
  // Reaps a killed child when the kernel has ended it. Uses a separate thread; if none can be
  // started, a later launch reaps the child.
  void ReapLater(pid_t pid) const;
  void ReapUnreaped() const;

  const std::string shim_program_;
  const std::chrono::milliseconds answer_limit_;
  mutable std::mutex mutex_;
  mutable std::vector<pid_t> unreaped_;
};

enum class RankPresence {
  kNeverStarted,  // No shim ever started here, so Launch may be called.
  // A shim runs, but there is no shim.json and no rank process yet. Read again later.
  kStarting,
  kRunning,       // The rank runs, or its shim will soon record its exit.
  kExited,        // exit.json is written.
  kVanished,      // There is no exit.json, and shim and rank (or their records) are gone.
};

struct RankState {
  RankPresence presence = RankPresence::kNeverStarted;
  // The pid of the rank's process; 0 until shim.json is written.
  pid_t rank_pid = 0;
  Timestamp started_ms = 0;
  // For kExited, the recorded exit. For kVanished, signal 9 and ended_ms 0.
  RankExit exit;
  // For kVanished, one sentence about the observed state.
  std::string summary;
  // True while an ended rank may have processes left. Until this is false, the attempt is not
  // cleared.
  bool processes_remain = false;
  // True if no shim will end the remaining processes. If so, the caller must call SweepRank.
  bool unattended = false;
  // True if the rank's process has ended and the shim is late: the shim has not recorded the end
  // yet, or is suspended.
  bool shim_overdue = false;
};

// Returns the state of a rank. Uses its records and, if these are incomplete, the mark of its
// processes. A restarted worker calls this function to find its ranks again. A running worker calls
// it on each heartbeat, in case an exit was missed. Changes nothing. INTERNAL or PERMISSION_DENIED
// if the files cannot be read.
absl::StatusOr<RankState> ReadRankState(const RankPlace& place);

// Kills the processes left by an ended rank that has no shim.
void SweepRank(const RankPlace& place);

// Sends SIGCONT or SIGKILL to the rank's shim. NOT_FOUND if no shim is alive. FAILED_PRECONDITION
// if SIGKILL is requested while the shim waits in the kernel, for example for a disk. In this case
// the shim will write its record later.
absl::Status SignalShim(const RankPlace& place, int signal);

// Returns a descriptor (pidfd, CLOEXEC) that becomes readable when the shim has ended, or, if the
// shim was killed, when the rank has ended. The caller then reads the state. The descriptor works
// with epoll and asio::posix::stream_descriptor::async_wait. NOT_FOUND: shim and rank have ended;
// read the state now. UNIMPLEMENTED: the kernel is older than 5.3, so only the check on each
// heartbeat detects the end.
absl::StatusOr<UniqueFd> OpenExitWatch(const std::string& rank_dir);

enum class RankSignal {
  kTerminate,  // SIGTERM to the group and to marked processes, which should save and exit.
  kKill,       // SIGKILL to the group and to marked processes, after writing kill.json.
  // SIGUSR1 or SIGUSR2, only to the rank's own process. Its children usually have no handler, and
  // the signal would end them.
  kUser1,
  kUser2,
};

// Sends the signal to the rank, after checking that the rank's pid still belongs to the started
// process. NOT_FOUND if the rank is not running.
absl::Status SignalRank(const RankPlace& place, RankSignal signal);

// True if the rank has living processes and all of them wait in the kernel, where no signal reaches
// them.
bool WaitsInKernel(const RankPlace& place);

// Returns the last complete lines of output.log as valid UTF-8 (invalid bytes become U+FFFD), at
// most max_bytes. If the last line alone is longer, returns the end of that line. Empty if there is
// no output.
std::string ReadLogTail(const std::string& rank_dir, std::size_t max_bytes = 8192);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_PROCESS_H_
