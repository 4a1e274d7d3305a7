#include "worker/process/memory_kills.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/support/durable_file.h"

namespace trainyard::worker {
namespace {

// Returns the number after "oom_kill " in a file that has one "name number" pair per line.
std::optional<int64_t> ReadKills(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return std::nullopt;
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    int64_t kills = 0;
    if (absl::ConsumePrefix(&line, "oom_kill ") && absl::SimpleAtoi(line, &kills)) return kills;
  }
  return std::nullopt;
}

bool HoldsMemory(absl::string_view controllers) {
  for (const absl::string_view name : absl::StrSplit(controllers, ',')) {
    if (name == "memory") return true;
  }
  return false;
}

}  // namespace

std::optional<int64_t> MemoryKills(const std::string& membership_file,
                                   const std::string& cgroup_root) {
  const absl::StatusOr<std::string> membership = ReadSmallFile(membership_file);
  if (!membership.ok()) return std::nullopt;
  std::vector<std::string> candidates;
  for (const absl::string_view line : absl::StrSplit(*membership, '\n')) {
    // The line is "ID:CONTROLLERS:PATH". For cgroup version 2, ID is 0 and CONTROLLERS is empty.
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    // Try two places. In a container, PATH may be the path on the host, although the container's
    // mount shows its own group as the root.
    if (parts[1].empty()) {
      candidates.push_back(absl::StrCat(cgroup_root, parts[2], "/memory.events"));
      candidates.push_back(absl::StrCat(cgroup_root, "/memory.events"));
    } else if (HoldsMemory(parts[1])) {
      candidates.push_back(absl::StrCat(cgroup_root, "/memory", parts[2], "/memory.oom_control"));
      candidates.push_back(absl::StrCat(cgroup_root, "/memory/memory.oom_control"));
    }
  }
  for (const std::string& path : candidates) {
    if (const std::optional<int64_t> kills = ReadKills(path); kills.has_value()) return kills;
  }
  return std::nullopt;
}

}  // namespace trainyard::worker
