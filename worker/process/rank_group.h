// Control groups of ranks (cgroup version 2): whatever a process does to its environment, its
// session and its parents, it stays in its rank's group, so that it is found and can be killed.
//
// The groups lie below this process's own group, where the kernel and the operator permit that
// (root, or Delegate= in the unit); elsewhere marks alone find processes (rank_mark.h). No
// controller is switched on in them: a group with processes of its own, as the worker's, cannot do
// so. Limits stay those of the worker's own group, and the worker counts what a rank's group holds.
#ifndef TRAINYARD_WORKER_PROCESS_RANK_GROUP_H_
#define TRAINYARD_WORKER_PROCESS_RANK_GROUP_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace trainyard::worker {

// Directory of this process's own control group; empty without version 2.
std::string OwnGroup(const std::string& membership_file = "/proc/self/cgroup",
                     const std::string& mounts_file = "/proc/self/mountinfo");

// True when groups of ranks can be made.
bool CanMakeRankGroups();

// Moves the process into the group of the rank with this mark; makes the group. Where the group can
// limit processes, as below a parent that has the pids controller on, it holds at most
// `processes_max` of them; 0: any number. Errors name the path and the cause.
absl::Status JoinRankGroup(const std::string& mark, pid_t pid, int64_t processes_max = 0);

// Processes and threads in the rank's group; 0 without a group.
int64_t ThreadsInGroup(const std::string& mark);

struct GroupedProcess {
  std::string mark;
  pid_t pid = 0;
};

// The processes of all groups of ranks.
std::vector<GroupedProcess> FindGrouped();

// Kills every process of the rank's group at once (Linux 5.14; does nothing before that).
void KillRankGroup(const std::string& mark);

// Removes the groups without processes: that of one rank, or all of them.
void RemoveRankGroup(const std::string& mark);
void RemoveEmptyRankGroups();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_GROUP_H_
