// Evidence that the kernel's memory killer was at work.
#ifndef TRAINYARD_WORKER_PROCESS_MEMORY_KILLS_H_
#define TRAINYARD_WORKER_PROCESS_MEMORY_KILLS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace trainyard::worker {

// Processes of this process's memory cgroup (version 2 or 1) that the memory killer has ended so
// far; nullopt when the kernel does not count them, as in the root cgroup.
std::optional<int64_t> MemoryKills(const std::string& membership_file = "/proc/self/cgroup",
                                   const std::string& cgroup_root = "/sys/fs/cgroup");

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_MEMORY_KILLS_H_
