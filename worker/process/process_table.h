// What /proc says of processes.
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
};

// Reads the text of /proc/PID/stat; nullopt when it is not one. The program's name in it may hold
// blanks and brackets.
std::optional<ProcessStat> ParseProcessStat(absl::string_view text);

// nullopt when no such process exists.
std::optional<ProcessStat> ReadProcessStat(pid_t pid);

// True while this very process runs: a zombie does not, nor does another process that got its pid.
bool IsRunning(const ProcessId& process);

// Processes whose parent is `parent`, and processes in group `group`; zombies left out.
std::vector<pid_t> ChildrenOf(pid_t parent);
std::vector<ProcessStat> MembersOfGroup(pid_t group);

// True when the process has a handler for the signal.
bool CatchesSignal(pid_t pid, int signal);

// Differs after each boot; empty where the kernel does not tell.
std::string BootId();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_PROCESS_TABLE_H_
