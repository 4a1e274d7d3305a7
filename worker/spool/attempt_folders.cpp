#include "worker/spool/attempt_folders.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/support/durable_file.h"
#include "proto/support/remove_tree.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "worker/core/processes.h"
#include "worker/process/rank_files.h"
#include "worker/spool/data_dir.h"
#include "worker/spool/run_directory.h"

namespace trainyard::worker {
namespace {

namespace fs = std::filesystem;

constexpr char kStartCommandFile[] = "/start.pb";
// The limit is larger than any job file (1 MiB), because start.pb also contains ranks and paths.
constexpr std::size_t kMaxStartBytes = 16 << 20;

std::optional<int64_t> NumberOf(const fs::path& path) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(path.filename().string(), &number) || number <= 0) return std::nullopt;
  return number;
}

// Returns the sub-folders whose name is a number, in ascending order, so the oldest attempt comes
// first.
std::vector<int64_t> NumberedFolders(const fs::path& path) {
  std::vector<int64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (const auto number = NumberOf(it->path())) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Returns the ranks whose folder in the attempt's folder exists and is not empty.
std::set<int> RanksWithRecords(const fs::path& attempt_dir) {
  std::set<int> ranks;
  std::error_code error;
  for (fs::directory_iterator it(attempt_dir, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    int rank = 0;
    if (!absl::StartsWith(name, "rank") || !absl::SimpleAtoi(name.substr(4), &rank)) continue;
    std::error_code ignored;
    if (rank >= 0 && !fs::is_empty(it->path(), ignored) && !ignored) ranks.insert(rank);
  }
  return ranks;
}

std::string RemovedName(const AttemptKey& key) {
  return absl::StrCat(kRemovedPrefix, key.job_id, "-", key.number);
}

// Renames the attempt's folder in `root`, so that it is no longer found. Returns OK if there is no
// such folder. Does not follow a link that a job has created in place of the folder.
absl::Status MoveAway(const std::string& root, const AttemptKey& key) {
  TRAINYARD_RETURN_IF_ERROR(
      MoveToRoot({root, absl::StrCat(key.job_id, "/", key.number)}, RemovedName(key)));
  // If this was the job's last attempt, remove the job's folder. Otherwise rmdir fails, which is
  // ignored.
  rmdir(absl::StrCat(root, "/", key.job_id).c_str());
  return absl::OkStatus();
}

// Removes everything in the root whose name begins with the prefix.
absl::Status RemoveMoved(const fs::path& root, const std::string& prefix) {
  absl::Status status;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error)) {
    if (absl::StartsWith(it->path().filename().string(), prefix)) {
      status.Update(RemoveTree(it->path().string()));
    }
  }
  return status;
}

// Returns the path of the rank's directory, relative to the directory that contains all attempts.
std::string BelowRoot(const RankKey& key) {
  return absl::StrCat(key.attempt.job_id, "/", key.attempt.number, "/rank", key.rank);
}

// Returns a command with only those parts that are known without start.pb.
v1::StartAttempt LostCommand(const AttemptKey& key, const std::set<int>& ranks) {
  v1::StartAttempt command;
  command.set_job_id(key.job_id);
  command.set_attempt(key.number);
  for (const int rank : ranks) command.add_processes()->add_ranks()->set_rank(rank);
  return command;
}

absl::StatusOr<v1::StartAttempt> ReadCommand(const std::string& path, const AttemptKey& key) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path, kMaxStartBytes));
  v1::StartAttempt command;
  const bool is_sound = command.ParseFromString(text) && command.job_id() == key.job_id &&
                        command.attempt() == key.number;
  command = WithProcesses(std::move(command));
  if (!is_sound || RanksOf(command).empty()) {
    return absl::DataLossError(absl::StrCat(path, " cannot be parsed"));
  }
  TRAINYARD_RETURN_IF_ERROR(CheckShapes(command));
  return command;
}

}  // namespace

AttemptFolders::AttemptFolders(std::string data_dir)
    : root_(absl::StrCat(data_dir, "/attempts")), runs_(absl::StrCat(data_dir, "/runs")) {}

std::string AttemptFolders::AttemptDir(const AttemptKey& key) const {
  return absl::StrCat(root_, "/", key.job_id, "/", key.number);
}

bool AttemptFolders::HasRunsOf(int64_t job_id) const {
  return OpenGuardedDirectory({runs_, absl::StrCat(job_id)}).ok();
}

std::string AttemptFolders::RankDir(const RankKey& key) const {
  return absl::StrCat(root_, "/", BelowRoot(key));
}

GuardedPath AttemptFolders::GuardedRunDir(const RankKey& key) const {
  const std::string below = BelowRoot(key);
  for (const char* name : {kSpecFile, kTelemetryFile}) {
    if (StatGuarded({root_, absl::StrCat(below, "/", name)}).has_value()) return {root_, below};
  }
  return {runs_, below};
}

GuardedPath AttemptFolders::JobDir(int64_t job_id) const { return {runs_, std::to_string(job_id)}; }

GuardedPath AttemptFolders::OutputFile(const RankKey& key) const {
  return {root_, absl::StrCat(BelowRoot(key), "/", kOutputFile)};
}

GuardedPath AttemptFolders::TelemetryFile(const RankKey& key) const {
  const GuardedPath run_dir = GuardedRunDir(key);
  return {run_dir.root(), absl::StrCat(run_dir.below(), "/", kTelemetryFile)};
}

GuardedPath AttemptFolders::ErrorFile(const RankKey& key) const {
  const GuardedPath run_dir = GuardedRunDir(key);
  return {run_dir.root(), absl::StrCat(run_dir.below(), "/", kErrorFile)};
}

absl::Status AttemptFolders::Create(const v1::StartAttempt& command) const {
  const AttemptKey key = {command.job_id(), command.attempt()};
  TRAINYARD_RETURN_IF_ERROR(MakeDirectories(runs_));
  // No rank of this attempt has run yet. If there is a directory at this path, an older attempt
  // left it.
  TRAINYARD_RETURN_IF_ERROR(MoveAside({runs_, absl::StrCat(key.job_id, "/", key.number)}));
  for (const int rank : FirstRanksOf(command)) {
    TRAINYARD_RETURN_IF_ERROR(MakeDirectories(RankDir({key, rank})));
    TRAINYARD_RETURN_IF_ERROR(MakeRunDirectory(GuardedRunDir({key, rank})));
  }
  return WriteFileAtomically(AttemptDir(key) + kStartCommandFile, command.SerializeAsString());
}

absl::Status AttemptFolders::WriteOrder(const RankKey& key, std::string_view order) const {
  const GuardedPath run_dir = GuardedRunDir(key);
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd directory, OpenGuardedDirectory(run_dir));
  const std::string written = absl::StrCat(RankDir(key), "/", kHealFile, ".new");
  TRAINYARD_RETURN_IF_ERROR(WriteFileAtomically(written, order));
  if (renameat(AT_FDCWD, written.c_str(), directory.get(), kHealFile) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "cannot replace", absl::StrCat(run_dir.text(), "/", kHealFile));
}

absl::StatusOr<AttemptFolders::Found> AttemptFolders::Scan(const std::set<RankKey>& running) const {
  TRAINYARD_RETURN_IF_ERROR(MakeDirectories(root_));
  TRAINYARD_RETURN_IF_ERROR(MakeDirectories(runs_));
  TRAINYARD_RETURN_IF_ERROR(RemoveMoved(root_, kRemovedPrefix));
  std::map<AttemptKey, std::set<int>> attempts;
  for (const RankKey& rank : running) attempts[rank.attempt].insert(rank.rank);
  for (const int64_t job_id : NumberedFolders(root_)) {
    for (const int64_t number : NumberedFolders(fs::path(root_) / std::to_string(job_id))) {
      attempts.try_emplace({job_id, number});
    }
  }
  Found found;
  for (const auto& [key, ranks] : attempts) ScanAttempt(key, ranks, found);
  MoveRunsWithoutAttempt(found);
  return found;
}

void AttemptFolders::ScanAttempt(const AttemptKey& key, std::set<int> running, Found& found) const {
  absl::StatusOr<v1::StartAttempt> command = ReadCommand(AttemptDir(key) + kStartCommandFile, key);
  if (command.ok()) {
    found.attempts.push_back(*std::move(command));
    return;
  }
  std::set<int> ranks = RanksWithRecords(AttemptDir(key));
  ranks.merge(running);
  if (ranks.empty()) {
    const absl::Status removed = Remove(key);
    if (!removed.ok()) found.warnings.push_back(Text(removed));
    return;
  }
  found.warnings.push_back(absl::StrCat(Text(command.status()), ": job ", key.job_id, " attempt ",
                                        key.number,
                                        " is ended, because its start command is not known"));
  found.lost.push_back(LostCommand(key, ranks));
}

void AttemptFolders::MoveRunsWithoutAttempt(const Found& found) const {
  std::set<AttemptKey> known;
  for (const auto* commands : {&found.attempts, &found.lost}) {
    for (const v1::StartAttempt& command : *commands) {
      known.insert({command.job_id(), command.attempt()});
    }
  }
  for (const int64_t job_id : NumberedFolders(runs_)) {
    if (!HasRunsOf(job_id)) continue;
    for (const int64_t number : NumberedFolders(fs::path(runs_) / std::to_string(job_id))) {
      const AttemptKey key = {job_id, number};
      if (!known.contains(key)) MoveAway(runs_, key).IgnoreError();
    }
  }
}

absl::Status AttemptFolders::Remove(const AttemptKey& key) const {
  const std::string moved = absl::StrCat(root_, "/", RemovedName(key));
  // The folder is moved in one step, so an interrupted removal never leaves a folder without
  // start.pb. A missing start.pb was therefore lost.
  TRAINYARD_RETURN_IF_ERROR(MoveAway(root_, key));
  if (HasRunsOf(key.job_id)) MoveAway(runs_, key).IgnoreError();
  // The next start removes what cannot be removed now.
  RemoveTree(moved).IgnoreError();
  return absl::OkStatus();
}

absl::Status AttemptFolders::RemoveMovedRuns(const AttemptKey& key) const {
  absl::Status status = RemoveTree(absl::StrCat(runs_, "/", RemovedName(key)));
  // Remove the directories that MoveAside has renamed.
  status.Update(RemoveMoved(runs_, RemovedName(key) + "-"));
  return status;
}

absl::Status AttemptFolders::RemoveAllMovedRuns() const {
  return RemoveMoved(runs_, kRemovedPrefix);
}

}  // namespace trainyard::worker
