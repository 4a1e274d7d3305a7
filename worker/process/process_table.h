// Reads data about processes from /proc.
#ifndef TRAINYARD_WORKER_PROCESS_PROCESS_TABLE_H_
#define TRAINYARD_WORKER_PROCESS_PROCESS_TABLE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "worker/process/rank_files.h"

namespace trainyard::worker {

struct ProcessStat {
  pid_t pid = 0;
  // The state as /proc shows it: R, S, D, Z, ...
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  uint64_t start_time = 0;
  // The addresses of the process's environment. The addresses change with each program that the
  // process executes. 0 if this user may not read the addresses.
  uint64_t environment_begin = 0;
  uint64_t environment_end = 0;
};

// True for the state of an ended process that is not reaped yet.
bool IsDead(char state);

// Parses the text of /proc/PID/stat. Returns nullopt for any other text. The program name in the
// text may contain spaces and parentheses.
std::optional<ProcessStat> ParseProcessStat(absl::string_view text);

// Returns nullopt if no process has this pid.
std::optional<ProcessStat> ReadProcessStat(pid_t pid);

// True while this process runs. False for a zombie, and if another process now has this pid.
bool IsRunning(const ProcessId& process);

// Returns all processes of the machine except zombies.
std::vector<ProcessStat> AllProcesses();

// ChildrenOf returns the processes whose parent is `parent`. MembersOfGroup returns the processes
// in group `group`. Both exclude zombies.
std::vector<pid_t> ChildrenOf(pid_t parent);
std::vector<ProcessStat> MembersOfGroup(pid_t group);

// True if the process has living threads and all of them wait in the kernel where no signal reaches
// them (state D). Correct even if the first thread of the process has ended.
bool WaitsInKernel(pid_t pid);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_PROCESS_TABLE_H_
