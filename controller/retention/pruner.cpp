#include "controller/retention/pruner.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/api/deletion/checkpoint_files.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kJobsAtOnce = 256;
// A file in the data directory with the newest trusted wall time, in Unix milliseconds.
constexpr char kKnownTimeFile[] = "/known_time";

void Warn(const std::string& what, const absl::Status& status) {
  if (!status.ok())
    spdlog::warn("retention: cannot {}: {}; retrying later", what, status.ToString());
}

// Returns the next ids above `after` of jobs that have data in the store.
absl::StatusOr<std::vector<int64_t>> NextJobs(PrunableStore& store, int64_t after) {
  std::vector<int64_t> ids;
  while (ids.size() < kJobsAtOnce) {
    TRAINYARD_ASSIGN_OR_RETURN(after, store.NextJob(after));
    if (after == 0) break;
    ids.push_back(after);
  }
  return ids;
}

}  // namespace

Pruner::Pruner(PrunedStores stores, EndedJobs& ended_jobs, const Clock& clock,
               PrunerOptions options)
    : stores_(stores),
      ended_jobs_(ended_jobs),
      clock_(clock),
      options_(std::move(options)),
      sections_{
          {"logs", stores_.logs, options_.policy.logs,
           [this](int64_t job_id) { return DropData(stores_.logs, job_id); }},
          {"metrics", stores_.metrics, options_.policy.metrics,
           [this](int64_t job_id) { return DropData(stores_.metrics, job_id); }},
          {"events", stores_.events, options_.policy.events,
           [this](int64_t job_id) { return DropEvents(job_id); }},
      },
      clock_doubt_(KnownTime(), clock.Now(), Steady::now()) {}

Pruner::~Pruner() { Stop(); }

void Pruner::Start() {
  Measure();
  thread_ = std::thread([this] { Run(); });
}

void Pruner::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Pruner::Wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_all();
}

SpaceReport Pruner::Space() const {
  const std::lock_guard lock(mutex_);
  return space_;
}

Timestamp Pruner::KnownTime() const {
  if (options_.data_dir.empty()) return options_.newest_event_ms;
  const auto text = ReadSmallFile(absl::StrCat(options_.data_dir, kKnownTimeFile));
  Timestamp known_ms = 0;
  const bool is_known = text.ok() && absl::SimpleAtoi(*text, &known_ms);
  return is_known ? known_ms : options_.newest_event_ms;
}

void Pruner::ReadClock() {
  const Timestamp now = clock_.Now();
  std::string doubt = clock_doubt_.Check(now, Steady::now());
  if (!doubt.empty()) spdlog::warn("retention: {}", doubt);
  pass_time_ms_ = doubt.empty() ? std::optional(now) : std::nullopt;
  if (doubt.empty() && !options_.data_dir.empty()) {
    Warn("store the newest known time",
         WriteFileAtomically(absl::StrCat(options_.data_dir, kKnownTimeFile),
                             absl::StrCat(now, "\n")));
  }
  const std::lock_guard lock(mutex_);
  doubt_ = std::move(doubt);
}

void Pruner::RunPass() {
  ReadClock();
  FinishDeletions();
  DeleteOldJobs();
  for (const Section& section : sections_) {
    if (Stopping()) return;
    Warn(absl::StrCat("remove old ", section.name), PruneSection(section));
  }
  const auto& keep_ms = options_.policy.events.keep_ms;
  if (keep_ms.has_value() && pass_time_ms_.has_value()) {
    const Timestamp before = *pass_time_ms_ - *keep_ms;
    Warn("remove old events of nodes",
         Repeat([&] { return stores_.events.DropNodeEvents(before); }));
    Warn("free the space of removed events", Repeat([&] { return stores_.events.Reclaim(); }));
  }
  Measure();
}

void Pruner::Run() {
  FinishDeletions();
  Steady::time_point pass_at = Steady::now() + options_.start_delay;
  while (!Stopping()) {
    if (Steady::now() >= pass_at) {
      RunPass();
      pass_at = Steady::now() + options_.pass_interval;
    }
    if (removals_.NextTry().value_or(Steady::time_point::max()) <= Steady::now()) {
      FinishDeletions();
    }
    Measure();
    const Steady::time_point until =
        std::min({pass_at, Steady::time_point(Steady::now() + options_.measure_interval),
                  removals_.NextTry().value_or(Steady::time_point::max())});
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, until, [this] { return stopping_ || woken_; });
    if (!std::exchange(woken_, false)) continue;
    lock.unlock();
    FinishDeletions();
  }
}

void Pruner::FinishDeletions() {
  uint64_t after = 0;
  while (!Stopping()) {
    const auto open = stores_.events.OpenDeletions(after);
    if (!open.ok()) return Warn("read the list of deleted jobs", open.status());
    if (open->empty()) return;
    for (const v1::EventEntry& entry : *open) {
      after = entry.sequence();
      Warn("remove the data of a deleted job", FinishDeletion(entry.event().job_deleted()));
    }
  }
}

absl::Status Pruner::FinishDeletion(const v1::JobDeleted& deleted) {
  TRAINYARD_RETURN_IF_ERROR(DropData(stores_.logs, deleted.job_id()));
  TRAINYARD_RETURN_IF_ERROR(DropData(stores_.metrics, deleted.job_id()));
  const bool all_gone = RemoveCheckpoints(deleted);
  TRAINYARD_RETURN_IF_ERROR(DropEvents(deleted.job_id()));
  if (!all_gone || Stopping()) return absl::OkStatus();
  return stores_.events.FinishDeletion(deleted.job_id()).status();
}

bool Pruner::RemoveCheckpoints(const v1::JobDeleted& deleted) {
  if (deleted.checkpoints().empty()) return true;
  bool all_gone = true;
  // Read the directories again. Another job may have started to use one of the directories after
  // the deletion was decided.
  const auto others = ended_jobs_.DirectoriesOfOthers(deleted.job_id());
  for (const std::string& path : deleted.checkpoints()) {
    const bool is_due = !Stopping() && removals_.IsDue(path, Steady::now());
    const absl::Status removed =
        is_due ? RemoveCheckpoint(path, options_.checkpoint_root, others) : absl::OkStatus();
    all_gone = all_gone && is_due && !absl::IsUnavailable(removed);
    if (!is_due) continue;
    if (absl::IsUnavailable(removed)) {
      spdlog::warn("retention: {}",
                   removals_.Failed(deleted.job_id(), path, Text(removed), Steady::now()));
      continue;
    }
    removals_.Succeeded(path);
    if (!removed.ok()) {
      spdlog::warn("retention: checkpoint {} of deleted job {} was not removed: {}", path,
                   deleted.job_id(), Text(removed));
    }
  }
  return all_gone;
}

void Pruner::DeleteOldJobs() {
  const auto& keep_ms = options_.policy.jobs_ms;
  if (!keep_ms.has_value() || !pass_time_ms_.has_value()) return;
  bool deleted = true;
  while (deleted && !Stopping()) {
    deleted = false;
    const auto jobs = ended_jobs_.EndedBy(*pass_time_ms_ - *keep_ms);
    if (!jobs.ok()) return Warn("read the list of old jobs", jobs.status());
    for (const EndedJob& job : *jobs) {
      if (Stopping()) return;
      const absl::Status status = ended_jobs_.Delete(job.id, options_.policy.checkpoints_with_jobs);
      Warn("delete an old job", status);
      deleted = deleted || status.ok();
    }
    FinishDeletions();
  }
}

absl::Status Pruner::PruneSection(const Section& section) {
  // First finish an interrupted drop.
  TRAINYARD_RETURN_IF_ERROR(Repeat([&] { return section.store.Reclaim(); }));
  const int64_t bound = BoundBytes(section.rule, DiskBytes());
  TRAINYARD_ASSIGN_OR_RETURN(const StoreUsage usage, section.store.Usage());
  const bool over = bound > 0 && usage.used_bytes > bound;
  const bool ages = section.rule.keep_ms.has_value() && pass_time_ms_.has_value();
  if (!over && !ages) return absl::OkStatus();
  std::vector<EndedJob> kept;
  TRAINYARD_RETURN_IF_ERROR(PruneByAge(section, over ? &kept : nullptr));
  if (!over) return absl::OkStatus();
  std::ranges::sort(kept, {}, &EndedJob::ended_ms);
  return PruneBySize(section, std::move(kept));
}

absl::Status Pruner::PruneByAge(const Section& section, std::vector<EndedJob>* kept) {
  int64_t after = 0;
  while (!Stopping()) {
    const Steady::time_point begin = Steady::now();
    TRAINYARD_ASSIGN_OR_RETURN(const auto ids, NextJobs(section.store, after));
    if (ids.empty()) return absl::OkStatus();
    after = ids.back();
    TRAINYARD_ASSIGN_OR_RETURN(const auto jobs, ended_jobs_.Among(ids));
    PauseAfter(begin);
    for (const EndedJob& job : jobs) {
      if (Stopping()) return absl::OkStatus();
      const bool is_old =
          pass_time_ms_.has_value() && IsDue(section.rule.keep_ms, job.ended_ms, *pass_time_ms_);
      if (is_old) {
        TRAINYARD_RETURN_IF_ERROR(section.drop(job.id));
      } else if (kept != nullptr) {
        kept->push_back(job);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Pruner::PruneBySize(const Section& section, std::vector<EndedJob> oldest_first) {
  const int64_t bound = BoundBytes(section.rule, DiskBytes());
  for (const EndedJob& job : oldest_first) {
    TRAINYARD_ASSIGN_OR_RETURN(const StoreUsage usage, section.store.Usage());
    if (usage.used_bytes <= bound || Stopping()) return absl::OkStatus();
    spdlog::info("retention: {} exceed their size limit; removing the {} of job {}", section.name,
                 section.name, job.id);
    TRAINYARD_RETURN_IF_ERROR(section.drop(job.id));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const StoreUsage usage, section.store.Usage());
  if (usage.used_bytes > bound) {
    spdlog::warn(
        "retention: {} take {} bytes, which is more than their limit of {} bytes; none can be "
        "removed, because they belong to jobs that have not ended",
        section.name, usage.used_bytes, bound);
  }
  return absl::OkStatus();
}

absl::Status Pruner::DropData(PrunableData& store, int64_t job_id) {
  // First finish an earlier drop, because that drop would block the new drop.
  TRAINYARD_RETURN_IF_ERROR(Repeat([&] { return store.Reclaim(); }));
  if (Stopping()) return absl::OkStatus();
  TRAINYARD_RETURN_IF_ERROR(store.DropJob(job_id));
  return Repeat([&] { return store.Reclaim(); });
}

absl::Status Pruner::DropEvents(int64_t job_id) {
  TRAINYARD_RETURN_IF_ERROR(Repeat([&] { return stores_.events.DropJobEvents(job_id); }));
  return Repeat([&] { return stores_.events.Reclaim(); });
}

absl::Status Pruner::Repeat(const std::function<absl::StatusOr<bool>()>& work) {
  while (!Stopping()) {
    const Steady::time_point begin = Steady::now();
    TRAINYARD_ASSIGN_OR_RETURN(const bool more, work());
    if (!more) return absl::OkStatus();
    PauseAfter(begin);
  }
  return absl::OkStatus();
}

void Pruner::PauseAfter(std::chrono::steady_clock::time_point begin) {
  const auto pause = (Steady::now() - begin) * options_.pause_factor;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, pause, [this] { return stopping_; });
}

void Pruner::Measure() {
  SpaceReport report;
  std::error_code error;
  const std::filesystem::space_info disk = options_.data_dir.empty()
                                               ? std::filesystem::space_info()
                                               : std::filesystem::space(options_.data_dir, error);
  if (!options_.data_dir.empty() && !error) {
    report.disk_bytes = static_cast<int64_t>(disk.capacity);
    report.disk_free_bytes = static_cast<int64_t>(disk.available);
  }
  for (const Section& section : sections_) {
    const auto usage = section.store.Usage();
    if (!usage.ok()) {
      Warn(absl::StrCat("measure the size of the ", section.name), usage.status());
      continue;
    }
    report.stores.push_back({section.name, *usage, BoundBytes(section.rule, report.disk_bytes)});
  }
  const std::lock_guard lock(mutex_);
  report.clock_doubt = doubt_;
  report.abandoned_removals = removals_.Warnings();
  space_ = std::move(report);
}

int64_t Pruner::DiskBytes() const {
  if (options_.data_dir.empty()) return 0;
  std::error_code error;
  const std::filesystem::space_info disk = std::filesystem::space(options_.data_dir, error);
  return error ? 0 : static_cast<int64_t>(disk.capacity);
}

bool Pruner::Stopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

}  // namespace trainyard::controller
