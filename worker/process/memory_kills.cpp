#include "worker/process/memory_kills.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/support/durable_file.h"

namespace trainyard::worker {
namespace {

// The number after "oom_kill " in a file with one "name number" per line.
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
    // "ID:CONTROLLERS:PATH"; version 2 has ID 0 and no controllers.
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    // In a container the path may be the host's, while the mount shows the container's own group.
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
