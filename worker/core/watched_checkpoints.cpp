#include "worker/core/watched_checkpoints.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/contract/limits.h"
#include "proto/files/normal_path.h"

namespace trainyard::worker {
namespace {

using re2::RE2;

// The time for which an entry must be unchanged. On one node, the worker also sees which files are
// open. A file that another node writes can seem unchanged for 3 s, because NFS caches attributes.
constexpr Timestamp kStableMs = 1000;
constexpr Timestamp kStableOnSeveralNodesMs = 5000;
constexpr int kStableLooks = 2;
// The step of an entry whose path names step 0 or an impossible step. It never becomes a record.
constexpr int64_t kNoCheckpoint = -1;

// The last number in the name, before the extension.
std::optional<int64_t> LastNumber(const std::string& path) {
  static const RE2 kNumber(R"(([0-9]{1,18})[^0-9/]*(?:\.[A-Za-z][A-Za-z0-9]*)?/*$)");
  int64_t number = 0;
  if (!RE2::PartialMatch(path, kNumber, &number)) return std::nullopt;
  return number;
}

bool IsUnchanged(const WatchedEntry& entry, const v1::WatchedFile& file) {
  if (file.recorded() || file.removed()) {
    const bool same_size = entry.unmeasured || entry.bytes == file.bytes();
    const bool is_new = file.own_modified_ns() == 0;
    return same_size && (is_new || entry.own_modified_ns == file.own_modified_ns());
  }
  return entry.bytes == file.bytes() && entry.modified_ns == file.modified_ns();
}

}  // namespace

WatchedCheckpoints::WatchedCheckpoints(const v1::StartAttempt& command)
    : spec_(command.spec().checkpoint()),
      directory_(NormalPath(command.checkpoint_dir())),
      attempt_(command.attempt()),
      resume_from_(NormalPath(command.resume_from())),
      earlier_(command.checkpoints().begin(), command.checkpoints().end()),
      stable_ms_(command.node_count() > 1 ? kStableOnSeveralNodesMs : kStableMs) {
  if (spec_.has_step()) step_pattern_ = std::make_shared<const RE2>(spec_.step(), RE2::Quiet);
}

void WatchedCheckpoints::Begin(const std::vector<WatchedEntry>& before) {
  for (const WatchedEntry& entry : before) {
    ignored_until_ns_ = std::max(ignored_until_ns_, entry.modified_ns);
  }
  const std::string prefix = absl::StrCat(directory_, "/");
  for (const v1::Checkpoint& checkpoint : earlier_) {
    const std::string path = NormalPath(checkpoint.path());
    if (!absl::StartsWith(path, prefix)) continue;
    v1::WatchedFile file;
    file.set_path(path.substr(prefix.size()));
    file.set_bytes(checkpoint.bytes());
    file.set_step(checkpoint.step());
    file.set_attempt(checkpoint.attempt());
    file.set_recorded(true);
    files_[file.path()] = std::move(file);
  }
}

void WatchedCheckpoints::Restore(v1::WatchState state) {
  ignored_until_ns_ = state.ignored_until_ns();
  for (v1::WatchedFile& file : *state.mutable_files()) files_[file.path()] = std::move(file);
}

v1::WatchState WatchedCheckpoints::State() const {
  v1::WatchState state;
  state.set_ignored_until_ns(ignored_until_ns_);
  for (const auto& [path, file] : files_) *state.add_files() = file;
  return state;
}

bool WatchedCheckpoints::IsRecorded(const std::string& path) const {
  const auto found = files_.find(path);
  return found != files_.end() && found->second.recorded();
}

int64_t WatchedCheckpoints::StepOf(const std::string& path, int64_t step) const {
  int64_t found = 0;
  const bool is_named = step_pattern_ != nullptr ? RE2::PartialMatch(path, *step_pattern_, &found)
                                                 : LastNumber(path).has_value();
  if (!is_named) return step;
  if (step_pattern_ == nullptr) found = *LastNumber(path);
  return found > 0 && found <= kMaxStep ? found : kNoCheckpoint;
}

v1::CheckpointRecord WatchedCheckpoints::RecordOf(const v1::WatchedFile& file) const {
  v1::CheckpointRecord record;
  record.set_step(file.step());
  record.set_attempt(file.attempt());
  record.set_path(absl::StrCat(directory_, "/", file.path()));
  record.set_bytes(file.bytes());
  return record;
}

// Starts to track the entry, or starts again after a change.
void WatchedCheckpoints::Track(const WatchedEntry& entry, int64_t step, Timestamp now) {
  if (files_.size() >= kMostFiles && !files_.contains(entry.path)) {
    const auto oldest = std::ranges::min_element(files_, {}, [](const auto& file) {
      return std::pair(file.second.modified_ns(), file.second.step());
    });
    ignored_until_ns_ = std::max(ignored_until_ns_, oldest->second.modified_ns());
    stability_.erase(oldest->first);
    missing_since_.erase(oldest->first);
    files_.erase(oldest);
  }
  v1::WatchedFile& file = files_[entry.path];
  file.Clear();
  file.set_path(entry.path);
  file.set_bytes(entry.bytes);
  file.set_modified_ns(entry.modified_ns);
  file.set_own_modified_ns(entry.own_modified_ns);
  file.set_step(StepOf(entry.path, step));
  file.set_attempt(attempt_);
  stability_[entry.path] = {.since = now};
}

// A failed program may have left a file half-written. Its end closes the file and ends all changes,
// so only looks before the end count. On one node, a file that was closed at two such looks and has
// not changed since is complete. One look does not suffice: it can see a process that has just been
// killed and whose end the worker has not noticed yet.
bool WatchedCheckpoints::IsComplete(const Stability& stability, WatchLook look,
                                    Timestamp now) const {
  if (look == WatchLook::kSaved) return stability.since < now;
  if (look == WatchLook::kFailed && stable_ms_ == kStableMs) return stability.looks >= kStableLooks;
  return stability.looks >= kStableLooks && now - stability.since >= stable_ms_;
}

bool WatchedCheckpoints::HasRecordOf(int64_t step) const {
  return std::ranges::any_of(files_, [&](const auto& file) {
    return file.second.recorded() && file.second.step() == step &&
           file.second.attempt() == attempt_;
  });
}

void WatchedCheckpoints::NoteEntry(const WatchedEntry& entry, WatchLook look, int64_t step,
                                   Timestamp now, WatchOutcome& outcome) {
  const auto found = files_.find(entry.path);
  if (found != files_.end() && IsUnchanged(entry, found->second)) {
    v1::WatchedFile& file = found->second;
    if (file.removed()) outcome.removals.push_back(file.path());
    if (file.recorded() && file.own_modified_ns() == 0) {
      file.set_own_modified_ns(entry.own_modified_ns);
      outcome.changed = true;
    }
    if (file.recorded() || file.removed()) return;
  } else {
    if (found != files_.end() && found->second.recorded()) {
      outcome.records.push_back(RecordOf(found->second));
      outcome.records.back().set_deleted(true);
    }
    outcome.changed |= found != files_.end();
    // The next look measures an unmeasured directory.
    const bool is_old = entry.unmeasured || entry.modified_ns <= ignored_until_ns_;
    if (is_old && found != files_.end()) files_.erase(found);
    outcome.pending |= entry.unmeasured;
    if (is_old) return;
    Track(entry, step, now);
    outcome.changed = true;
  }
  v1::WatchedFile& file = files_[entry.path];
  Stability& stability = stability_.try_emplace(entry.path, Stability{.since = now}).first->second;
  if (entry.in_progress) stability = {.since = now};
  const bool is_complete = !entry.in_progress && IsComplete(stability, look, now);
  if (look == WatchLook::kRunning && !entry.in_progress) ++stability.looks;
  if (file.bytes() == 0 || file.step() == kNoCheckpoint) return;
  if (!is_complete) {
    outcome.pending = true;
  } else if (file.step() == 0) {
    outcome.without_step = file.path();
  } else if (!HasRecordOf(file.step())) {
    file.set_recorded(true);
    outcome.changed = true;
    outcome.records.push_back(RecordOf(file));
  }
}

void WatchedCheckpoints::NoteMissing(const std::vector<WatchedEntry>& entries, Timestamp now,
                                     WatchOutcome& outcome) {
  std::set<std::string> seen;
  for (const WatchedEntry& entry : entries) seen.insert(entry.path);
  std::erase_if(missing_since_, [&](const auto& path) { return seen.contains(path.first); });
  for (auto it = files_.begin(); it != files_.end();) {
    const v1::WatchedFile& file = it->second;
    const bool is_missing = !seen.contains(file.path());
    const Timestamp since = !is_missing || !file.recorded()
                                ? now
                                : missing_since_.try_emplace(file.path(), now).first->second;
    const bool is_gone = is_missing && (!file.recorded() || now - since >= kMissingMs);
    if (!is_gone) {
      ++it;
      continue;
    }
    if (file.recorded()) {
      outcome.records.push_back(RecordOf(file));
      outcome.records.back().set_deleted(true);
    }
    outcome.changed = true;
    missing_since_.erase(file.path());
    stability_.erase(file.path());
    it = files_.erase(it);
  }
}

// `newer`: the number of recorded checkpoints with a higher step.
bool WatchedCheckpoints::IsKept(const v1::WatchedFile& file, int64_t newer) const {
  const int64_t every = spec_.keep_every_steps();
  return newer < std::max<int64_t>(1, spec_.keep_last()) ||
         (every > 0 && file.step() % every == 0) ||
         absl::StrCat(directory_, "/", file.path()) == resume_from_;
}

void WatchedCheckpoints::Retain(WatchOutcome& outcome) {
  std::vector<v1::WatchedFile*> recorded;
  for (auto& [path, file] : files_) {
    if (file.recorded() && !missing_since_.contains(path)) recorded.push_back(&file);
  }
  std::ranges::sort(recorded, std::greater<>(), [](const v1::WatchedFile* file) {
    return std::pair(file->step(), file->attempt());
  });
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    v1::WatchedFile& file = *recorded[i];
    if (IsKept(file, static_cast<int64_t>(i))) continue;
    outcome.records.push_back(RecordOf(file));
    outcome.records.back().set_deleted(true);
    outcome.removals.push_back(file.path());
    outcome.changed = true;
    file.set_recorded(false);
    file.set_removed(true);
  }
}

WatchOutcome WatchedCheckpoints::Note(const std::vector<WatchedEntry>& entries, WatchLook look,
                                      int64_t step, Timestamp now) {
  WatchOutcome outcome;
  // Records are in the order in which the program wrote the checkpoints.
  std::vector<const WatchedEntry*> by_age;
  for (const WatchedEntry& entry : entries) by_age.push_back(&entry);
  std::ranges::stable_sort(by_age, {}, &WatchedEntry::modified_ns);
  for (const WatchedEntry* entry : by_age) NoteEntry(*entry, look, step, now, outcome);
  NoteMissing(entries, now, outcome);
  Retain(outcome);
  return outcome;
}

}  // namespace trainyard::worker
