// Control groups of ranks (cgroup version 2). A process stays in its rank's group even if it
// changes its environment, session or parents, so it can always be found and killed.
//
// The groups are created below this process's own group if the kernel and the operator permit it
// (root, or Delegate= in the unit). Otherwise processes are found only by their marks
// (rank_mark.h). No cgroup controller is enabled in the groups, because a group that contains
// processes, as the worker's group does, cannot enable controllers for its children. The limits of
// the worker's own group still apply, and the worker counts the processes in each rank's group.
#ifndef TRAINYARD_WORKER_PROCESS_RANK_GROUP_H_
#define TRAINYARD_WORKER_PROCESS_RANK_GROUP_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace trainyard::worker {

// Returns the directory of this process's own control group; empty without cgroup version 2.
std::string OwnGroup(const std::string& membership_file = "/proc/self/cgroup",
                     const std::string& mounts_file = "/proc/self/mountinfo");

bool CanMakeRankGroups();

// Creates the group of the rank with this mark and moves the process into it. `processes_max`
// limits the processes in the group; 0 for no limit. The limit has an effect only if the parent
// group has the pids controller enabled. Errors name the path and the cause.
absl::Status JoinRankGroup(const std::string& mark, pid_t pid, int64_t processes_max = 0);

// Returns the number of processes and threads in the rank's group; 0 if there is no group.
int64_t ThreadsInGroup(const std::string& mark);

struct GroupedProcess {
  std::string mark;
  pid_t pid = 0;
};

// The processes in the groups of all ranks.
std::vector<GroupedProcess> FindGrouped();

// Kills all processes of the rank's group at once. Needs Linux 5.14; has no effect on older
// kernels.
void KillRankGroup(const std::string& mark);

// RemoveRankGroup removes the group of one rank. RemoveEmptyRankGroups removes the groups of all
// ranks. Neither removes a group that contains processes.
void RemoveRankGroup(const std::string& mark);
void RemoveEmptyRankGroups();

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_RANK_GROUP_H_
