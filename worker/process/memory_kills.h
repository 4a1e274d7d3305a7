// Counts the kernel's out-of-memory kills.
#ifndef TRAINYARD_WORKER_PROCESS_MEMORY_KILLS_H_
#define TRAINYARD_WORKER_PROCESS_MEMORY_KILLS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace trainyard::worker {

// Returns the number of kills by the kernel's out-of-memory killer so far in this process's memory
// cgroup (version 2 or 1). Returns nullopt if the kernel does not count kills, as in the root
// cgroup.
std::optional<int64_t> MemoryKills(const std::string& membership_file = "/proc/self/cgroup",
                                   const std::string& cgroup_root = "/sys/fs/cgroup");

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_MEMORY_KILLS_H_
