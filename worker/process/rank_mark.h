// Marks by which the processes of a rank are found though its records are lost.
//
// A rank and its shim carry a mark in their environment, and every process that the rank starts
// inherits it: also one that has left the rank's process group and session. A process that clears
// its environment is found as long as its parent is, and where ranks have control groups
// (rank_group.h) also after that. Without groups, one that does both, clears its environment and
// leaves all its parents behind, is found only while the rank's shim lives, because it is then the
// shim's child.
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

// A living process that carries a mark, a descendant of one, or a process of a rank's group.
struct MarkedProcess {
  ProcessStat stat;
  std::string mark;
  // The rank's first process; 0 for a shim, -1 when it is not known.
  pid_t leader = 0;

  bool is_shim() const { return leader == 0; }
};

// All marked processes of this user. Reads /proc of the whole machine: some 20 us a process. One
// whose environment does not come within a second (mark_reader.h) is found by its parents and its
// control group only.
std::vector<MarkedProcess> FindMarked();

// Those with this mark; empty for an empty mark. A process may be missed while it starts another
// and ends: an empty answer is therefore the result of two searches.
std::vector<MarkedProcess> FindMarked(const std::string& mark);

// Sends SIGKILL to the processes with this mark, but to no shim, until no new one appears. Returns
// how many were killed.
int KillMarked(const std::string& mark);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_MARK_H_
