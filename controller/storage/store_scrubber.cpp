#include "controller/storage/store_scrubber.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {

StoreScrubber::StoreScrubber(std::string data_dir, StorageHealth& health, const Clock& clock,
                             ScrubOptions options)
    : health_(health), clock_(clock), options_(options) {
  if (data_dir.empty()) return;
  for (const StoreName store : kStoreNames) {
    const std::string path = absl::StrCat(data_dir, "/", NameOf(store), ".db");
    databases_.push_back({store, path, PageScrub(path), {}});
    databases_.back().report.set_store(NameOf(store));
  }
}

StoreScrubber::~StoreScrubber() { Stop(); }

void StoreScrubber::Start() {
  if (!databases_.empty()) thread_ = std::thread([this] { Run(); });
}

void StoreScrubber::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<v1::StoreScrub> StoreScrubber::Report() const {
  const std::lock_guard lock(mutex_);
  std::vector<v1::StoreScrub> reports;
  for (const Database& database : databases_) reports.push_back(database.report);
  return reports;
}

void StoreScrubber::Run() {
  for (;;) {
    for (Database& database : databases_) {
      if (!Scrub(database)) return;
    }
    if (!Pause(options_.rest)) return;
  }
}

bool StoreScrubber::Scrub(Database& database) {
  for (;;) {
    const std::size_t known = database.pages.damaged().size();
    const absl::StatusOr<bool> step = database.pages.Step(options_.bytes);
    Note(database, step, known);
    if (!Pause(options_.pause)) return false;
    // If a file cannot be read, the next pass tries again.
    if (!step.ok() || *step) return true;
  }
}

void StoreScrubber::Note(Database& database, const absl::StatusOr<bool>& step,
                         std::size_t known_damage) {
  if (!step.ok()) {
    spdlog::warn("background check: {}", std::string(step.status().message()));
    return;
  }
  const std::vector<int64_t>& damaged = database.pages.damaged();
  for (std::size_t i = damaged.size() < known_damage ? 0 : known_damage; i < damaged.size(); ++i) {
    const absl::Status found = absl::DataLossError(
        absl::StrCat(database.path, ": the page at byte ", damaged[i],
                     " differs from what was written; restore a backup with `trainyard server "
                     "restore`, before the older backups are deleted"));
    spdlog::error("background check: {}", std::string(found.message()));
    health_.ReportDamage(database.store, found);
  }
  const std::lock_guard lock(mutex_);
  database.report.set_part(*step ? 0 : database.pages.part());
  if (*step) database.report.set_finished_ms(clock_.Now());
  database.report.set_damaged_pages(database.pages.damaged_pages());
}

bool StoreScrubber::Pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_for(lock, time, [this] { return stopping_; });
}

}  // namespace trainyard::controller
