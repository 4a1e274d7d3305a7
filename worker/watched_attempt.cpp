#include "worker/watched_attempt.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"
#include "worker/process/rank_mark.h"
#include "worker/process/written_files.h"
#include "worker/tail/checkpoint_lines.h"

namespace trainyard::worker {
namespace {

constexpr char kWatchAlert[] = "checkpoint_watch";
// More than 1,000 files with paths of the greatest length.
constexpr std::size_t kMaxStateBytes = 16 << 20;

template <typename Clock>
Timestamp MsOf() {
  const auto now = Clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

Timestamp WallMs() { return MsOf<std::chrono::system_clock>(); }

std::vector<pid_t> ProcessesOf(const std::set<std::string>& marks) {
  std::vector<pid_t> processes;
  for (const MarkedProcess& process : FindMarked()) {
    if (!process.is_shim() && marks.contains(process.mark)) processes.push_back(process.stat.pid);
  }
  return processes;
}

}  // namespace

WatchedAttempt::WatchedAttempt(const v1::StartAttempt& command, WatchPlaces places)
    : name_(absl::StrCat("job ", command.job_id(), " attempt ", command.attempt())),
      places_(std::move(places)),
      has_checkpoints_(!command.spec().checkpoint().watch().empty()),
      scan_(command.checkpoint_dir(), command.spec().checkpoint().watch()),
      watched_(command),
      reports_(name_, kWatchAlert, places_.telemetry) {
  const std::string& tensorboard = command.spec().tensorboard();
  if (tensorboard.empty()) return;
  tensorboard_.emplace(TensorboardWatch::Options{
      .name = name_,
      .directory = absl::StartsWith(tensorboard, "/")
                       ? tensorboard
                       : absl::StrCat(places_.working_directory, "/", tensorboard),
      .telemetry = places_.telemetry,
      .state_path = absl::StrCat(places_.state_path, ".tensorboard")});
}

void WatchedAttempt::Begin() {
  const std::lock_guard lock(mutex_);
  if (has_checkpoints_) Load();
  if (tensorboard_.has_value()) tensorboard_->Begin();
}

void WatchedAttempt::Load() {
  if (std::exchange(is_loaded_, true)) return;
  v1::WatchState state;
  const absl::StatusOr<std::string> stored = ReadSmallFile(places_.state_path, kMaxStateBytes);
  if (stored.ok() && state.ParseFromString(*stored)) return watched_.Restore(std::move(state));
  const auto before = Find();
  // If the directory cannot be read, nothing is known about it, and every file counts as new.
  watched_.Begin(before.ok() ? *before : std::vector<WatchedEntry>());
  StoreState(watched_);
}

absl::StatusOr<std::vector<WatchedEntry>> WatchedAttempt::Find() {
  struct stat info {};
  if (stat(scan_.directory().c_str(), &info) != 0) {
    return ErrnoStatus(errno, "cannot read", scan_.directory());
  }
  const std::pair identity(info.st_dev, info.st_ino);
  if (directory_.value_or(identity) != identity) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot watch ", scan_.directory(),
                     ": another directory has replaced it; check whether its disk is mounted"));
  }
  directory_ = identity;
  return scan_.Find([this](const std::string& path) { return watched_.IsRecorded(path); });
}

bool WatchedAttempt::Look(WatchLook look, int64_t step) {
  const std::lock_guard lock(mutex_);
  // First the metrics, so that the telemetry has the step of a checkpoint before its record.
  const bool more_metrics = tensorboard_.has_value() && tensorboard_->Look(look);
  const bool more_checkpoints = has_checkpoints_ && LookForCheckpoints(look, step);
  return more_metrics || more_checkpoints;
}

bool WatchedAttempt::LookForCheckpoints(WatchLook look, int64_t step) {
  Load();
  auto entries = Find();
  if (!entries.ok()) {
    reports_.Report(Text(entries.status()), look);
    return false;
  }
  const bool all_recorded = std::ranges::all_of(
      *entries, [this](const WatchedEntry& entry) { return watched_.IsRecorded(entry.path); });
  if (!all_recorded) {
    MarkWritten(FilesWrittenBelow(ProcessesOf(places_.marks), scan_.RealDirectory()), *entries);
  }
  WatchedCheckpoints next = watched_;
  const WatchOutcome outcome = next.Note(*entries, look, step, MsOf<std::chrono::steady_clock>());
  // The next look repeats a failed write.
  if (!Write(outcome, look).ok()) return true;
  watched_ = std::move(next);
  if (outcome.changed) StoreState(watched_);
  if (!outcome.without_step.empty()) {
    reports_.Report(
        absl::StrCat("checkpoint.watch: the step of ", outcome.without_step,
                     " is unknown; set checkpoint.step to a pattern for the step in the name, "
                     "or set log_parser"),
        look);
  }
  Remove(outcome.removals);
  return outcome.pending;
}

absl::Status WatchedAttempt::Write(const WatchOutcome& outcome, WatchLook look) {
  if (outcome.records.empty()) return absl::OkStatus();
  std::string lines;
  for (const v1::CheckpointRecord& record : outcome.records) {
    absl::StrAppend(&lines, CheckpointLine(record, WallMs()));
    spdlog::info("{}: checkpoint {} of step {} {}", name_, record.path(), record.step(),
                 record.deleted() ? "is no longer kept" : "is complete");
  }
  return AppendTelemetry(places_.telemetry, lines, look != WatchLook::kRunning);
}

void WatchedAttempt::StoreState(const WatchedCheckpoints& watched) {
  const absl::Status stored =
      WriteFileAtomically(places_.state_path, watched.State().SerializeAsString());
  // Without the file, a restarted worker reports checkpoints again, which is harmless.
  if (!stored.ok()) spdlog::warn("{}: {}", name_, Text(stored));
}

void WatchedAttempt::Remove(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const absl::Status removed = scan_.Remove(path);
    if (!removed.ok() && reports_.IsNew(path)) {
      spdlog::warn("{}: {}; the worker tries again", name_, Text(removed));
    }
  }
}

}  // namespace trainyard::worker
