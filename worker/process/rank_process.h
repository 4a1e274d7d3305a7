// Starts, finds, watches and signals the ranks of this node, each under a shim process that
// outlives the worker.
//
// Any thread may call these functions, but calls for one rank must not overlap. They access the
// disk, and Launch waits for the shim (tens of milliseconds), so a loop thread should delegate them
// to a helper thread.
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

// Starts ranks by running SHIM_PROGRAM with the arguments `shim --dir RANK_DIR`. That program must
// then call RunShim (shim.h).
class RankLauncher {
 public:
  // `shim_program`: the resolved path of the worker's own binary ("/proc/self/exe"), so that an
  // upgrade on disk cannot mix versions in one start.
  explicit RankLauncher(std::string shim_program,
                        std::chrono::milliseconds answer_limit = std::chrono::seconds(10));

  // Starts the rank, at most once per place. The place's directory must exist. OK means that a shim
  // has taken over and will write the outcome to exit.json. A program that cannot be executed
  // (missing, not executable, no working directory) is such an outcome: an exit with spawn_error.
  // On an error no rank runs, except as noted: ALREADY_EXISTS if it was started before or a process
  // of it runs (the rank may be running), INVALID_ARGUMENT for an empty argv, a NUL byte or a '='
  // in a variable's name, RESOURCE_EXHAUSTED, PERMISSION_DENIED or INTERNAL if files or processes
  // cannot be created, DEADLINE_EXCEEDED if the shim does not answer within the limit (it may still
  // start: use ReadRankState).
  absl::Status Launch(const RankPlace& place, RankCommand command) const;

 private:
  // Reaps a killed child once the kernel lets it end: on its own thread or, if no thread can be
  // started, at a later launch.
  void ReapLater(pid_t pid) const;
  void ReapUnreaped() const;

  const std::string shim_program_;
  const std::chrono::milliseconds answer_limit_;
  mutable std::mutex mutex_;
  mutable std::vector<pid_t> unreaped_;
};

enum class RankPresence {
  kNeverStarted,  // No shim ever started here; Launch may be called.
  kStarting,      // A shim lives, but there is no shim.json and no process of the rank: ask again.
  kRunning,       // The rank is running, or its shim is about to record its exit.
  kExited,        // exit.json is written.
  kVanished,      // No exit.json; shim and rank, or their records, are gone.
};

struct RankState {
  RankPresence presence = RankPresence::kNeverStarted;
  // 0 until shim.json is written.
  pid_t rank_pid = 0;
  Timestamp started_ms = 0;
  // kExited: as recorded. kVanished: signal 9 and ended_ms 0.
  RankExit exit;
  // kVanished: one sentence about the observed state.
  std::string summary;
  // True while an ended rank may have processes left. The attempt is not cleared until this is
  // false.
  bool processes_remain = false;
  // True when no shim will end these processes: call SweepRank.
  bool unattended = false;
  // True when the rank's process has ended, and its shim either has not recorded that yet or is
  // stopped.
  bool shim_overdue = false;
};

// The state of a rank, from its records and, where these are incomplete, from the mark of its
// processes. Used to reattach after a restart of the worker and as the fallback check on each
// heartbeat. Changes nothing. INTERNAL or PERMISSION_DENIED if the files cannot be read.
absl::StatusOr<RankState> ReadRankState(const RankPlace& place);

// Kills the processes left by an ended rank without a shim.
void SweepRank(const RankPlace& place);

// Sends SIGCONT or SIGKILL to the rank's shim. NOT_FOUND if no shim lives. FAILED_PRECONDITION for
// SIGKILL if the shim waits in the kernel, as for a disk: it will write its record later.
absl::Status SignalShim(const RankPlace& place, int signal);

// A descriptor (pidfd, CLOEXEC) that becomes readable when the shim has ended (or the rank, if its
// shim was killed): then read the state. Works with epoll and
// asio::posix::stream_descriptor::async_wait. NOT_FOUND if shim and rank have ended: read the state
// now. UNIMPLEMENTED on kernels before 5.3: rely on the heartbeat check.
absl::StatusOr<UniqueFd> OpenExitWatch(const std::string& rank_dir);

enum class RankSignal {
  kTerminate,  // SIGTERM to the process group: save and exit.
  kKill,       // SIGKILL to the group and all marked processes, recorded in kill.json first.
};

// Signals a rank after checking that the pid is still the started process. NOT_FOUND if the rank is
// not running.
absl::Status SignalRank(const RankPlace& place, RankSignal signal);

// True when the rank has living processes and all of them wait in the kernel, where no signal
// reaches them.
bool WaitsInKernel(const RankPlace& place);

// The last whole lines of output.log, at most max_bytes, as valid UTF-8 (other bytes become
// U+FFFD). If the last line is longer, the end of that line. Empty if there is no output.
std::string ReadLogTail(const std::string& rank_dir, std::size_t max_bytes = 8192);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_PROCESS_H_
