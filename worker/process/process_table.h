// Facts about processes, read from /proc.
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
  // R, S, D, Z, ...
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  uint64_t start_time = 0;
  // Addresses of its environment, which change with each program it executes; 0 if this user may
  // not see them.
  uint64_t environment_begin = 0;
  uint64_t environment_end = 0;
};

// True for the state of a process that has ended but is not reaped yet.
bool IsDead(char state);

// Parses the text of /proc/PID/stat; nullopt for any other text. The program's name in it may
// contain blanks and brackets.
std::optional<ProcessStat> ParseProcessStat(absl::string_view text);

// nullopt when no such process exists.
std::optional<ProcessStat> ReadProcessStat(pid_t pid);

// True while this exact process runs. False for a zombie and for another process with the same pid.
bool IsRunning(const ProcessId& process);

// All processes of the machine except zombies.
std::vector<ProcessStat> AllProcesses();

// Processes whose parent is `parent`, and processes in group `group`, except zombies.
std::vector<pid_t> ChildrenOf(pid_t parent);
std::vector<ProcessStat> MembersOfGroup(pid_t group);

// True when a thread of the process waits in the kernel where no signal reaches it (state D), and
// every other thread does so or has ended. Works even if the process's first thread has ended.
bool WaitsInKernel(pid_t pid);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_PROCESS_TABLE_H_
