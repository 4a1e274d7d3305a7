#include "worker/rank_marks.h"

#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "proto/support/boot_id.h"
#include "worker/process/process_table.h"
#include "worker/process/rank_mark.h"

namespace trainyard::worker {
namespace {

constexpr std::chrono::seconds kStraysMax{15};

std::string PlaceOf(const std::string& data_dir) {
  std::filesystem::path path(data_dir);
  if (!path.has_filename()) path = path.parent_path();
  struct stat info = {};
  // If the parent's inode cannot be read, the place is unknown. Then no process is treated as a
  // stray.
  if (stat(path.parent_path().c_str(), &info) != 0) return "";
  const std::string name = absl::StrReplaceAll(path.filename().string(), {{":", "_"}});
  return absl::StrCat(absl::Hex(info.st_dev), "-", absl::Hex(info.st_ino), "-", name);
}

struct ParsedMark {
  std::string node_id;
  std::string place;
  RankKey key;
};

std::optional<ParsedMark> Parse(const std::string& mark) {
  const std::vector<std::string> parts = absl::StrSplit(mark, ':');
  ParsedMark parsed;
  if (parts.size() != 5) return std::nullopt;
  parsed.node_id = parts[0];
  parsed.place = parts[1];
  const bool is_sound = absl::SimpleAtoi(parts[2], &parsed.key.attempt.job_id) &&
                        absl::SimpleAtoi(parts[3], &parsed.key.attempt.number) &&
                        absl::SimpleAtoi(parts[4], &parsed.key.rank);
  if (!is_sound) return std::nullopt;
  return parsed;
}

}  // namespace

RankMarks::RankMarks(const std::string& data_dir, const std::string& node_id)
    : node_id_(node_id), place_(PlaceOf(data_dir)) {}

std::string RankMarks::MarkOf(const RankKey& key) const {
  return absl::StrJoin(
      std::vector<std::string>{node_id_, place_, absl::StrCat(key.attempt.job_id),
                               absl::StrCat(key.attempt.number), absl::StrCat(key.rank)},
      ":");
}

std::set<RankKey> RankMarks::Running() const {
  std::set<RankKey> running;
  for (const MarkedProcess& process : FindMarked()) {
    const std::optional<ParsedMark> mark = Parse(process.mark);
    if (mark.has_value() && mark->node_id == node_id_) running.insert(mark->key);
  }
  return running;
}

RankMarks::Strays RankMarks::KillStrays() const {
  std::set<pid_t> killed;
  bool lives = !place_.empty();
  const auto deadline = std::chrono::steady_clock::now() + kStraysMax;
  while (lives && std::chrono::steady_clock::now() < deadline) {
    lives = false;
    for (const MarkedProcess& process : FindMarked()) {
      const std::optional<ParsedMark> mark = Parse(process.mark);
      if (!mark.has_value() || mark->node_id == node_id_ || mark->place != place_) continue;
      lives = true;
      // Spare the shims: a shim ends on its own when it has no process left to reap.
      if (!process.is_shim() && kill(process.stat.pid, SIGKILL) == 0) {
        killed.insert(process.stat.pid);
      }
    }
    if (lives) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {.killed = static_cast<int>(killed.size()), .all_ended = !place_.empty() && !lives};
}

std::string RankMarks::PlaceOfBoot() const {
  std::error_code error;
  const std::filesystem::path processes = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  if (error || place_.empty() || BootId().empty()) return "";
  return absl::StrCat(BootId(), " ", processes.string(), " ", place_);
}

}  // namespace trainyard::worker
