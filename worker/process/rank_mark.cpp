#include "worker/process/rank_mark.h"

#include <signal.h>

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "worker/process/mark_reader.h"
#include "worker/process/rank_group.h"

namespace trainyard::worker {
namespace {

// The limit is large, because a program may start others with megabytes of environment.
constexpr std::size_t kMaxEnvironmentBytes = 8 << 20;
// The limit on rounds in one call. If a process starts others faster than they are killed, the next
// call continues.
constexpr int kMaxKillRounds = 16;

// Returns the mark in a text "MARK:PID"; nullopt for any other text.
std::optional<Mark> ParseRankMark(absl::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == absl::string_view::npos || colon == 0) return std::nullopt;
  Mark mark{std::string(text.substr(0, colon))};
  const bool is_sound = absl::SimpleAtoi(text.substr(colon + 1), &mark.leader) && mark.leader > 0;
  return is_sound ? std::optional<Mark>(mark) : std::nullopt;
}

// Returns the mark in the initial environment of the process.
absl::StatusOr<std::optional<Mark>> ReadMark(pid_t pid) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const std::string text,
      ReadSmallFile(absl::StrCat("/proc/", pid, "/environ"), kMaxEnvironmentBytes));
  for (const absl::string_view variable : absl::StrSplit(text, '\0')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(variable, absl::MaxSplits('=', 1));
    if (parts.first == kRankMarkVariable) return ParseRankMark(parts.second);
    if (parts.first != kShimMarkVariable) continue;
    if (parts.second.empty()) break;
    return Mark{std::string(parts.second)};
  }
  return std::optional<Mark>();
}

// All searches of this process share one reader, so that no environment is read twice.
std::map<pid_t, Mark> MarksOf(const std::vector<ProcessStat>& processes) {
  static auto* const reader = new MarkReader(ReadMark);
  return reader->MarksOf(processes);
}

using Children = std::multimap<pid_t, ProcessStat>;

// Adds those descendants of the last process in `found` that have no mark of their own.
void AddDescendants(const Children& children, std::set<pid_t>& known,
                    std::vector<MarkedProcess>& found) {
  for (std::size_t i = found.size() - 1; i < found.size(); ++i) {
    const MarkedProcess parent = found[i];
    const auto [begin, end] = children.equal_range(parent.stat.pid);
    for (auto child = begin; child != end; ++child) {
      if (!known.insert(child->second.pid).second) continue;
      // An unmarked child of a shim is an orphan of the rank, with unknown leader.
      const pid_t leader = parent.is_shim() ? -1 : parent.leader;
      found.push_back({child->second, parent.mark, leader});
    }
  }
}

// Adds those processes in rank groups that have no mark of their own.
void AddGrouped(std::set<pid_t>& known, std::vector<MarkedProcess>& found) {
  for (const GroupedProcess& process : FindGrouped()) {
    if (known.contains(process.pid)) continue;
    const std::optional<ProcessStat> stat = ReadProcessStat(process.pid);
    if (!stat.has_value() || IsDead(stat->state)) continue;
    known.insert(process.pid);
    found.push_back({*stat, process.mark, -1});
  }
}

}  // namespace

std::vector<MarkedProcess> FindMarked() {
  std::vector<MarkedProcess> found;
  std::set<pid_t> known;
  Children children;
  const std::vector<ProcessStat> processes = AllProcesses();
  const std::map<pid_t, Mark> marks = MarksOf(processes);
  for (const ProcessStat& stat : processes) {
    children.emplace(stat.parent, stat);
    const auto mark = marks.find(stat.pid);
    if (mark == marks.end()) continue;
    known.insert(stat.pid);
    found.push_back({stat, mark->second.mark, mark->second.leader});
  }
  AddGrouped(known, found);
  std::vector<MarkedProcess> all;
  for (MarkedProcess& process : found) {
    all.push_back(std::move(process));
    AddDescendants(children, known, all);
  }
  return all;
}

std::vector<MarkedProcess> FindMarked(const std::string& mark) {
  if (mark.empty()) return {};
  for (int search = 0; search < 2; ++search) {
    std::vector<MarkedProcess> found = FindMarked();
    std::erase_if(found, [&](const MarkedProcess& process) { return process.mark != mark; });
    if (!found.empty()) return found;
  }
  return {};
}

int KillMarked(const std::string& mark) {
  std::set<std::pair<pid_t, uint64_t>> killed;
  for (int round = 0; round < kMaxKillRounds; ++round) {
    const std::size_t before = killed.size();
    for (const MarkedProcess& process : FindMarked(mark)) {
      const ProcessId id = {process.stat.pid, process.stat.start_time};
      if (process.is_shim() || !IsRunning(id)) continue;
      if (kill(id.pid, SIGKILL) == 0) killed.emplace(id.pid, id.start_time);
    }
    // Unlike a search, this call cannot miss processes that are started meanwhile.
    KillRankGroup(mark);
    if (killed.size() == before) break;
  }
  return static_cast<int>(killed.size());
}

void TerminateMarkedOutside(const std::string& mark, pid_t group) {
  for (const MarkedProcess& process : FindMarked(mark)) {
    if (process.is_shim() || process.stat.group == group) continue;
    const ProcessId id = {process.stat.pid, process.stat.start_time};
    // A process that has ended meanwhile needs no signal.
    if (IsRunning(id)) kill(id.pid, SIGTERM);
  }
}

}  // namespace trainyard::worker
