#include "worker/process/rank_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "proto/files/unique_fd.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

constexpr char kPrefix[] = "trainyard-rank:";
// The maximum depth to which groups are searched. Ranks may create groups inside their own group.
constexpr int kMaxDepth = 8;

// Escaped converts a mark to a part of a file name. Unescaped converts it back.
std::string Escaped(const std::string& mark) {
  return absl::StrReplaceAll(mark, {{"%", "%25"}, {"/", "%2F"}, {"\n", "%0A"}});
}
std::string Unescaped(absl::string_view name) {
  return absl::StrReplaceAll(name, {{"%25", "%"}, {"%2F", "/"}, {"%0A", "\n"}});
}

// A mount of the cgroup version 2 file system: its mount point, and the directory of the file
// system that appears there (`root`).
struct GroupMount {
  std::string point;
  std::string root;
};

std::optional<GroupMount> FindMount(const std::string& mounts_file) {
  const absl::StatusOr<std::string> mounts = ReadSmallFile(mounts_file);
  if (!mounts.ok()) return std::nullopt;
  for (const absl::string_view line : absl::StrSplit(*mounts, '\n')) {
    // The format of a line is "36 35 98:0 ROOT POINT OPTIONS... - TYPE SOURCE ..." (proc(5)).
    const std::vector<absl::string_view> halves = absl::StrSplit(line, absl::MaxSplits(" - ", 1));
    const std::vector<absl::string_view> fields = absl::StrSplit(halves[0], ' ');
    const bool is_version_2 = halves.size() == 2 && absl::StartsWith(halves[1], "cgroup2 ");
    if (is_version_2 && fields.size() >= 5) {
      return GroupMount{std::string(fields[4]), std::string(fields[3])};
    }
  }
  return std::nullopt;
}

absl::Status WriteText(const std::string& path, const std::string& text) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot open", path);
  if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return ErrnoStatus(errno, "cannot write", path);
  }
  return absl::OkStatus();
}

std::string GroupOf(const std::string& mark) {
  const std::string home = OwnGroup();
  return home.empty() ? "" : absl::StrCat(home, "/", kPrefix, Escaped(mark));
}

std::vector<std::string> DirectoriesIn(const std::string& path) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory.get())) {
    if (entry->d_type == DT_DIR && entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

// Returns the names of the rank groups below this process's own group.
std::vector<std::string> RankGroups(const std::string& home) {
  std::vector<std::string> names = DirectoriesIn(home);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with(kPrefix); });
  return names;
}

void AddProcesses(const std::string& group, const std::string& mark, int depth,
                  std::vector<GroupedProcess>& found) {
  const absl::StatusOr<std::string> pids = ReadSmallFile(group + "/cgroup.procs");
  if (!pids.ok()) return;
  for (const absl::string_view text : absl::StrSplit(*pids, '\n', absl::SkipEmpty())) {
    // 0 if the process is not visible in this PID namespace.
    pid_t pid = 0;
    if (absl::SimpleAtoi(text, &pid) && pid > 0) found.push_back({mark, pid});
  }
  if (depth == kMaxDepth) return;
  for (const std::string& name : DirectoriesIn(group)) {
    AddProcesses(absl::StrCat(group, "/", name), mark, depth + 1, found);
  }
}

int64_t CountThreads(const std::string& group, int depth) {
  // The limit is about a million threads, which is more than any machine allows.
  const absl::StatusOr<std::string> threads = ReadSmallFile(group + "/cgroup.threads", 8 << 20);
  if (absl::IsResourceExhausted(threads.status())) return INT64_MAX / 2;
  int64_t count = threads.ok() ? std::ranges::count(*threads, '\n') : 0;
  if (depth == kMaxDepth) return count;
  for (const std::string& name : DirectoriesIn(group)) {
    count += CountThreads(absl::StrCat(group, "/", name), depth + 1);
  }
  return count;
}

void RemoveGroup(const std::string& group, int depth) {
  if (depth < kMaxDepth) {
    for (const std::string& name : DirectoriesIn(group)) {
      RemoveGroup(absl::StrCat(group, "/", name), depth + 1);
    }
  }
  // Has no effect while the group contains a process.
  rmdir(group.c_str());
}

}  // namespace

std::string OwnGroup(const std::string& membership_file, const std::string& mounts_file) {
  const absl::StatusOr<std::string> membership = ReadSmallFile(membership_file);
  const std::optional<GroupMount> mount = FindMount(mounts_file);
  if (!membership.ok() || !mount.has_value()) return "";
  for (absl::string_view line : absl::StrSplit(*membership, '\n')) {
    if (!absl::ConsumePrefix(&line, "0::")) continue;
    // In a container the line may contain the path on the host, although the mount shows only a
    // part of the host's tree.
    if (mount->root != "/") absl::ConsumePrefix(&line, mount->root);
    return absl::StrCat(mount->point, line == "/" ? "" : line);
  }
  return "";
}

bool CanMakeRankGroups() {
  const std::string home = OwnGroup();
  return !home.empty() && access(home.c_str(), W_OK) == 0;
}

absl::Status JoinRankGroup(const std::string& mark, pid_t pid, int64_t processes_max) {
  const std::string group = GroupOf(mark);
  if (group.empty()) return absl::UnavailableError("control groups (cgroup v2) are not available");
  if (mkdir(group.c_str(), 0755) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, "cannot make control group", group);
  }
  // Errors are ignored. Without the pids controller the file does not exist; the worker then counts
  // the processes instead.
  if (processes_max > 0) {
    WriteText(group + "/pids.max", absl::StrCat(processes_max)).IgnoreError();
  }
  return WriteText(group + "/cgroup.procs", absl::StrCat(pid));
}

int64_t ThreadsInGroup(const std::string& mark) {
  const std::string group = GroupOf(mark);
  return group.empty() ? 0 : CountThreads(group, 0);
}

std::vector<GroupedProcess> FindGrouped() {
  std::vector<GroupedProcess> found;
  const std::string home = OwnGroup();
  if (home.empty()) return found;
  for (const std::string& name : RankGroups(home)) {
    const std::string mark = Unescaped(absl::StripPrefix(name, kPrefix));
    AddProcesses(absl::StrCat(home, "/", name), mark, 0, found);
  }
  return found;
}

void KillRankGroup(const std::string& mark) {
  const std::string group = GroupOf(mark);
  if (!group.empty()) WriteText(group + "/cgroup.kill", "1").IgnoreError();
}

void RemoveRankGroup(const std::string& mark) {
  const std::string group = GroupOf(mark);
  if (!group.empty()) RemoveGroup(group, 0);
}

void RemoveEmptyRankGroups() {
  const std::string home = OwnGroup();
  if (home.empty()) return;
  for (const std::string& name : RankGroups(home)) RemoveGroup(absl::StrCat(home, "/", name), 0);
}

}  // namespace trainyard::worker
