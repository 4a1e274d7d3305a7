// The files through which a worker and the shim of a rank communicate. The files are in a directory
// whose path is not passed to the rank. They belong to the worker's user and outlive both
// processes:
//
//   start.json   the command to start; written by the worker before the shim exists
//   lock         locked (OFD write lock) by the shim until it ends
//   shim.json    the pids of shim and rank; written by the shim before the rank's first instruction
//   output.log   stdout and stderr of the rank, append-only
//   kill.json    exists if this worker sent SIGKILL, so that the exit is known to be intended
//   exit.json    how the rank ended; the last file written by the shim
#ifndef TRAINYARD_WORKER_PROCESS_RANK_FILES_H_
#define TRAINYARD_WORKER_PROCESS_RANK_FILES_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/support/clock.h"

namespace trainyard::worker {

inline constexpr char kStartFile[] = "start.json";
inline constexpr char kLockFile[] = "lock";
inline constexpr char kShimFile[] = "shim.json";
inline constexpr char kOutputFile[] = "output.log";
inline constexpr char kKillFile[] = "kill.json";
inline constexpr char kExitFile[] = "exit.json";

// The directory of one rank's records, and the mark of its processes.
struct RankPlace {
  RankPlace() = default;
  explicit RankPlace(std::string records_dir, std::string rank_mark = "")
      : records(std::move(records_dir)), mark(std::move(rank_mark)) {}

  // The absolute path of the directory that contains the files above.
  std::string records;
  // The value that identifies the rank's processes if its records are lost (rank_mark.h). Empty if
  // the processes are not marked.
  std::string mark;
};

// Returns the path of one of the files above in the rank's directory.
std::string PathOf(const std::string& rank_dir, const char* name);

// The exit code of a rank that could not be started; the same value as in shells.
inline constexpr int kSpawnErrorExit = 127;

// The command that a rank executes. No shell is used.
struct RankCommand {
  // Program and arguments. A program name without a slash is looked up in the PATH of
  // `environment`. A name with a slash is relative to working_directory.
  std::vector<std::string> argv;
  // The complete environment except the secrets. No other variable is inherited.
  std::map<std::string, std::string> environment;
  // Absolute.
  std::string working_directory;
  // RankPlace::mark, set by RankLauncher.
  std::string mark = "";
  // Environment variables with the values of secrets. Secrets are never written to a file: the shim
  // gets them in its environment.
  std::map<std::string, std::string> secrets = {};
  // The limit on the rank's processes and threads; 0 for no limit. The limit has an effect only if
  // the kernel can limit the rank's control group.
  int64_t processes_max = 0;
};

// Identifies a process even if its pid is reused later. start_time is field 22 of /proc/PID/stat,
// in clock ticks since boot. The kernel sets it when it creates the process and never changes it.
struct ProcessId {
  pid_t pid = 0;
  uint64_t start_time = 0;
};

// shim.json
struct ShimRecord {
  ProcessId shim;
  ProcessId rank;
  Timestamp started_ms = 0;
  // The boot during which the process was started. After a reboot, start times have no meaning.
  std::string boot_id;
};

// The contents of exit.json: how a rank ended.
struct RankExit {
  // 127 if the program could not be started (spawn_error is then set); 0 if a signal ended the
  // rank.
  int exit_code = 0;
  // The signal that ended the rank; 0 if the rank exited.
  int signal = 0;
  // True if the kernel's out-of-memory killer ended the rank, according to the kernel's counter.
  bool out_of_memory = false;
  std::string spawn_error;
  // Used with spawn_error. True if the node could not have executed any program of any job.
  bool node_at_fault = false;
  // 0 if unknown because the rank vanished.
  Timestamp ended_ms = 0;
};

// Writes start.json with mode 0600, without the secrets.
absl::Status WriteRankCommand(const std::string& rank_dir, const RankCommand& command);
absl::StatusOr<RankCommand> ReadRankCommand(const std::string& rank_dir);

// True if no record in the directory shows that a shim ever started a rank here. False if the
// directory is missing: it is created before the first start, so it must have been lost.
bool IsUnused(const std::string& rank_dir);

// ReadRankCommand, ReadShimRecord and ReadRankExit return NOT_FOUND if the file does not exist, and
// DATA_LOSS if the file is malformed or not a regular file.
absl::Status WriteShimRecord(const std::string& rank_dir, const ShimRecord& record);
absl::StatusOr<ShimRecord> ReadShimRecord(const std::string& rank_dir);

absl::Status WriteRankExit(const std::string& rank_dir, const RankExit& exit);
absl::StatusOr<RankExit> ReadRankExit(const std::string& rank_dir);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_FILES_H_
