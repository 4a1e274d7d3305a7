// Counts the kernel's out-of-memory kills.
#ifndef TRAINYARD_WORKER_PROCESS_MEMORY_KILLS_H_
#define TRAINYARD_WORKER_PROCESS_MEMORY_KILLS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace trainyard::worker {

// Returns how many processes of this process's memory cgroup (version 2 or 1) the kernel's
// out-of-memory killer has killed so far. Returns nullopt if the kernel does not count them, as in
// the root cgroup.
std::optional<int64_t> MemoryKills(const std::string& membership_file = "/proc/self/cgroup",
                                   const std::string& cgroup_root = "/sys/fs/cgroup");

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_MEMORY_KILLS_H_
