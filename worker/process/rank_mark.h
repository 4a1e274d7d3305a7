// Marks that identify the processes of a rank even if its records are lost.
//
// A rank and its shim have a mark in their environment. Every process that the rank starts inherits
// the mark and keeps it when it leaves the rank's process group and session. A process that clears
// its environment loses the mark. Such a process is still found if:
// - its parent is still found;
// - ranks have control groups (rank_group.h);
// - the rank's shim is still running, because orphans of the rank become children of the shim.
#ifndef TRAINYARD_WORKER_PROCESS_RANK_MARK_H_
#define TRAINYARD_WORKER_PROCESS_RANK_MARK_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "worker/process/process_table.h"

namespace trainyard::worker {

// A variable in the environment of a rank. Its value is "MARK:PID"; PID is the rank's first
// process.
inline constexpr char kRankMarkVariable[] = "TRAINYARD_RANK_MARK";
// A variable in the environment of a shim. Its value is "MARK".
inline constexpr char kShimMarkVariable[] = "TRAINYARD_SHIM_MARK";

// A living process that has a mark, descends from a marked process, or is in the group of a rank.
struct MarkedProcess {
  ProcessStat stat;
  std::string mark;
  // The pid of the rank's first process; 0 for a shim, -1 if unknown.
  pid_t leader = 0;

  bool is_shim() const { return leader == 0; }
};

// Returns all marked processes of this user. Reads /proc of the whole machine, which takes about 20
// us per process. If the environment of a process cannot be read within 3 s (mark_reader.h), the
// process can be found only through its parents or its control group.
std::vector<MarkedProcess> FindMarked();

// Returns the processes with this mark; empty if the mark is empty. One search may miss a process
// that starts another process and then ends. Therefore a second search follows if the first search
// finds nothing.
std::vector<MarkedProcess> FindMarked(const std::string& mark);

// Sends SIGKILL to all processes with this mark except shims. Repeats this until no new process
// appears. Returns the number of killed processes.
int KillMarked(const std::string& mark);

// Sends SIGTERM to the processes with this mark except shims and the processes of `group`. A signal
// to the group of the rank does not reach training that a launcher has started in a session of its
// own.
void TerminateMarkedOutside(const std::string& mark, pid_t group);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_MARK_H_
