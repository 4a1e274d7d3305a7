// The records through which a worker and the shim of a rank communicate. All are in a directory
// that is not passed to the rank, belong to the worker's user, and outlive both processes:
//
//   start.json   the command to start; written by the worker before the shim exists
//   lock         held (OFD write lock) by the shim for as long as it lives
//   shim.json    the pids of shim and rank; written by the shim before the rank's first instruction
//   output.log   stdout and stderr of the rank, append-only
//   kill.json    present if this worker sent SIGKILL: the exit is then intended
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

// The records of one rank, and the mark of its processes.
struct RankPlace {
  RankPlace() = default;
  explicit RankPlace(std::string records_dir, std::string rank_mark = "")
      : records(std::move(records_dir)), mark(std::move(rank_mark)) {}

  // Absolute directory of the files above.
  std::string records;
  // Value that identifies the rank's processes when its records are lost (rank_mark.h); empty if
  // they are not marked.
  std::string mark;
};

// Path of one of the files above in the rank's directory.
std::string PathOf(const std::string& rank_dir, const char* name);

// Exit code of a rank that could not be started, as in shells.
inline constexpr int kSpawnErrorExit = 127;

// The command that a rank executes, without a shell.
struct RankCommand {
  // Program and arguments. A program name without a slash is searched in PATH of `environment`; one
  // with a slash is relative to working_directory.
  std::vector<std::string> argv;
  // The whole environment except the secrets: nothing is inherited.
  std::map<std::string, std::string> environment;
  // Absolute.
  std::string working_directory;
  // RankPlace::mark, set by RankLauncher.
  std::string mark = "";
  // Additional variables, never written to a file: the shim gets them in its environment.
  std::map<std::string, std::string> secrets = {};
  // Limit on the rank's processes and threads, if the kernel can limit its control group; 0 for no
  // limit.
  int64_t processes_max = 0;
};

// A process, safe against reused pids: start_time is field 22 of /proc/PID/stat (clock ticks since
// boot) and is fixed when the process is created.
struct ProcessId {
  pid_t pid = 0;
  uint64_t start_time = 0;
};

// shim.json
struct ShimRecord {
  ProcessId shim;
  ProcessId rank;
  Timestamp started_ms = 0;
  // Boot during which the process started. Start times are meaningless after a reboot.
  std::string boot_id;
};

// exit.json: how a rank ended.
struct RankExit {
  // 127 with spawn_error set if the program could not be started; 0 if a signal ended the rank.
  int exit_code = 0;
  // Signal that ended the rank; 0 if it exited.
  int signal = 0;
  // Ended by the kernel's out-of-memory killer, as counted by the kernel.
  bool out_of_memory = false;
  std::string spawn_error;
  // With spawn_error: the node could not execute any program of any job.
  bool node_at_fault = false;
  // 0 when unknown (the rank vanished).
  Timestamp ended_ms = 0;
};

// start.json, mode 0600, without the secrets.
absl::Status WriteRankCommand(const std::string& rank_dir, const RankCommand& command);
absl::StatusOr<RankCommand> ReadRankCommand(const std::string& rank_dir);

// True while no record in the directory shows that a shim ever started a rank here. False if the
// directory does not exist: it is created before the first start.
bool IsUnused(const std::string& rank_dir);

// Readers return NOT_FOUND if the file does not exist, and DATA_LOSS if it is malformed or not a
// regular file.
absl::Status WriteShimRecord(const std::string& rank_dir, const ShimRecord& record);
absl::StatusOr<ShimRecord> ReadShimRecord(const std::string& rank_dir);

absl::Status WriteRankExit(const std::string& rank_dir, const RankExit& exit);
absl::StatusOr<RankExit> ReadRankExit(const std::string& rank_dir);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_FILES_H_
