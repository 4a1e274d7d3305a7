#include "worker/process/thread_stacks.h"

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/support/durable_file.h"
#include "proto/text/utf8.h"
#include "worker/process/process_table.h"

namespace trainyard::worker {
namespace {

constexpr std::size_t kMostProcesses = 16;
constexpr std::size_t kMostThreads = 64;
constexpr std::size_t kMostFrames = 8;
constexpr std::size_t kMaxFileBytes = 4096;

// Returns the text of the file; empty if the file cannot be read, because the thread is gone or
// this user has no permission.
std::string TextOf(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadSmallFile(path, kMaxFileBytes);
  return text.ok() ? std::string(absl::StripAsciiWhitespace(*text)) : "";
}

std::vector<pid_t> ThreadsOf(pid_t pid) {
  std::vector<pid_t> threads;
  const std::string path = absl::StrCat("/proc/", pid, "/task");
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  if (directory == nullptr) return threads;
  while (const dirent* entry = readdir(directory.get())) {
    pid_t thread = 0;
    if (absl::SimpleAtoi(entry->d_name, &thread)) threads.push_back(thread);
  }
  std::ranges::sort(threads);
  if (threads.size() > kMostThreads) threads.resize(kMostThreads);
  return threads;
}

// Returns the number of the system call, or "running".
std::string SystemCall(const std::string& task) {
  const std::string text = TextOf(task + "syscall");
  return text.substr(0, text.find(' '));
}

void AddThread(pid_t pid, pid_t thread, std::string& text) {
  const std::string task = absl::StrCat("/proc/", pid, "/task/", thread, "/");
  const std::optional<ProcessStat> stat = ParseProcessStat(TextOf(task + "stat"));
  if (!stat.has_value()) return;
  absl::StrAppend(&text, thread, " ", TextOf(task + "comm"), " (", std::string(1, stat->state),
                  ")");
  const std::string waits_in = TextOf(task + "wchan");
  if (!waits_in.empty() && waits_in != "0") absl::StrAppend(&text, " in ", waits_in);
  const std::string call = SystemCall(task);
  if (!call.empty()) absl::StrAppend(&text, ", system call ", call);
  absl::StrAppend(&text, "\n");
  std::size_t frames = 0;
  for (const absl::string_view frame : absl::StrSplit(TextOf(task + "stack"), '\n')) {
    if (frame.empty() || ++frames > kMostFrames) break;
    absl::StrAppend(&text, "    ", frame, "\n");
  }
}

}  // namespace

std::string ThreadStacks(pid_t pid) {
  const std::optional<ProcessStat> leader = ReadProcessStat(pid);
  if (!leader.has_value()) return "";
  std::vector<pid_t> processes = {pid};
  for (const ProcessStat& member : MembersOfGroup(leader->group)) {
    if (member.pid != pid && processes.size() < kMostProcesses) processes.push_back(member.pid);
  }
  std::string text;
  for (const pid_t process : processes) {
    for (const pid_t thread : ThreadsOf(process)) {
      if (text.size() >= kMaxStackBytes) break;
      AddThread(process, thread, text);
    }
  }
  text = ReplaceInvalidUtf8(text);
  return std::string(Utf8Prefix(text, kMaxStackBytes));
}

}  // namespace trainyard::worker
