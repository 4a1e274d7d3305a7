// Functions for the processes of a start command. Pure.
#ifndef TRAINYARD_WORKER_CORE_PROCESSES_H_
#define TRAINYARD_WORKER_CORE_PROCESSES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// Returns true for a process of several ranks. It starts its ranks itself, as torchrun does.
inline bool IsLauncher(const v1::Process& process) { return process.ranks_size() > 1; }

// Returns the command with `processes` set. Commands of earlier releases have only `ranks`. Such a
// command may come from a controller or from disk. Each of its ranks becomes a process on one slot.
v1::StartAttempt WithProcesses(v1::StartAttempt command);

// Returns the ranks of all processes, in the order of the command.
std::vector<int> RanksOf(const v1::StartAttempt& command);

// Returns the first rank of each process, in the order of the command. The first rank identifies
// the process: the files, the streams and the facts of the process have its number.
std::vector<int> FirstRanksOf(const v1::StartAttempt& command);

// Returns the first rank of the process that runs `rank`. Returns `rank` if no process of the
// command runs it.
int FirstRankBeside(const v1::StartAttempt& command, int rank);

// Returns the ranks of the process with this first rank, from the first on. Returns only
// `first_rank` if the command has no such process.
std::vector<int> RanksBeside(const v1::StartAttempt& command, int first_rank);

// Returns a text about a contradiction in the command; empty if there is none. A contradiction is a
// bug of the controller, and no process may be started for such a command.
std::string Contradiction(const v1::StartAttempt& command);

// INVALID_ARGUMENT if the command has a process that this worker cannot start. The worker starts
// only processes with one rank on each of their slots, and no standby with several ranks.
absl::Status CheckShapes(const v1::StartAttempt& command);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_PROCESSES_H_
