// Marks that identify the processes of a rank even if its records are lost.
//
// A rank and its shim have a mark in their environment. Every process started by the rank inherits
// it, even after leaving the rank's process group and session. A process that clears its
// environment is found as long as its parent is, and also later if ranks have control groups
// (rank_group.h). Without groups, a process that clears its environment and outlives all its
// parents is found only while the rank's shim lives, as a child of the shim.
#ifndef TRAINYARD_WORKER_PROCESS_RANK_MARK_H_
#define TRAINYARD_WORKER_PROCESS_RANK_MARK_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "worker/process/process_table.h"

namespace trainyard::worker {

// In the environment of a rank: "MARK:PID", with the pid of the rank's first process.
inline constexpr char kRankMarkVariable[] = "TRAINYARD_RANK_MARK";
// In the environment of a shim: "MARK".
inline constexpr char kShimMarkVariable[] = "TRAINYARD_SHIM_MARK";

// A living process that has a mark, descends from a marked process, or is in a rank's group.
struct MarkedProcess {
  ProcessStat stat;
  std::string mark;
  // The rank's first process; 0 for a shim, -1 if unknown.
  pid_t leader = 0;

  bool is_shim() const { return leader == 0; }
};

// All marked processes of this user. Reads /proc of the whole machine: about 20 us per process. A
// process whose environment cannot be read within 3 s (mark_reader.h) is found only by its parents
// and its control group.
std::vector<MarkedProcess> FindMarked();

// Processes with this mark; empty for an empty mark. One search may miss a process that starts
// another process and ends. If the first search finds nothing, a second one is made.
std::vector<MarkedProcess> FindMarked(const std::string& mark);

// Sends SIGKILL to the processes with this mark, except shims, until no new one appears. Returns
// the number of killed processes.
int KillMarked(const std::string& mark);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_MARK_H_
