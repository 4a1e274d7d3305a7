#include "worker/process/process_table.h"

#include <dirent.h>

#include <memory>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/support/durable_file.h"

namespace trainyard::worker {
namespace {

// Calls `visit` with each process of the machine except zombies.
template <typename Visit>
void ForEachProcess(Visit visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir("/proc"), closedir);
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory.get())) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(entry->d_name, &pid)) continue;
    const std::optional<ProcessStat> stat = ReadProcessStat(pid);
    if (stat.has_value() && !IsDead(stat->state)) visit(*stat);
  }
}

}  // namespace

bool IsDead(char state) { return state == 'Z' || state == 'X' || state == 'x'; }

std::optional<ProcessStat> ParseProcessStat(absl::string_view text) {
  // The text is "PID (NAME) STATE PPID PGRP SESSION ...". NAME may contain ')', so the last ')'
  // ends the name.
  const std::size_t open = text.find(" (");
  const std::size_t close = text.rfind(')');
  if (open == absl::string_view::npos || close == absl::string_view::npos || close < open) {
    return std::nullopt;
  }
  const std::vector<absl::string_view> fields =
      absl::StrSplit(text.substr(close + 1), ' ', absl::SkipWhitespace());
  // fields[0] is field 3 (state) of proc(5). So field N is fields[N - 3].
  ProcessStat stat;
  if (fields.size() < 20 || fields[0].size() != 1) return std::nullopt;
  stat.state = fields[0][0];
  if (!absl::SimpleAtoi(text.substr(0, open), &stat.pid) ||
      !absl::SimpleAtoi(fields[1], &stat.parent) || !absl::SimpleAtoi(fields[2], &stat.group) ||
      !absl::SimpleAtoi(fields[19], &stat.start_time)) {
    return std::nullopt;
  }
  if (fields.size() > 48) {
    (void)absl::SimpleAtoi(fields[47], &stat.environment_begin);
    (void)absl::SimpleAtoi(fields[48], &stat.environment_end);
  }
  return stat;
}

std::optional<ProcessStat> ReadProcessStat(pid_t pid) {
  const absl::StatusOr<std::string> text = ReadSmallFile(absl::StrCat("/proc/", pid, "/stat"));
  if (!text.ok()) return std::nullopt;
  return ParseProcessStat(*text);
}

bool IsRunning(const ProcessId& process) {
  if (process.pid <= 0) return false;
  const std::optional<ProcessStat> stat = ReadProcessStat(process.pid);
  return stat.has_value() && stat->start_time == process.start_time && !IsDead(stat->state);
}

std::vector<ProcessStat> AllProcesses() {
  std::vector<ProcessStat> processes;
  ForEachProcess([&](const ProcessStat& stat) { processes.push_back(stat); });
  return processes;
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  ForEachProcess([&](const ProcessStat& stat) {
    if (stat.parent == parent) children.push_back(stat.pid);
  });
  return children;
}

std::vector<ProcessStat> MembersOfGroup(pid_t group) {
  std::vector<ProcessStat> members;
  ForEachProcess([&](const ProcessStat& stat) {
    if (stat.group == group) members.push_back(stat);
  });
  return members;
}

bool WaitsInKernel(pid_t pid) {
  const std::string tasks = absl::StrCat("/proc/", pid, "/task");
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(tasks.c_str()), closedir);
  if (directory == nullptr) return false;
  bool any = false;
  while (const dirent* entry = readdir(directory.get())) {
    if (entry->d_name[0] == '.') continue;
    const auto text = ReadSmallFile(absl::StrCat(tasks, "/", entry->d_name, "/stat"));
    const auto stat = text.ok() ? ParseProcessStat(*text) : std::nullopt;
    if (!stat.has_value() || IsDead(stat->state)) continue;
    if (stat->state != 'D') return false;
    any = true;
  }
  return any;
}

}  // namespace trainyard::worker
