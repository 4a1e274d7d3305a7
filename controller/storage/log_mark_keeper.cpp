#include "controller/storage/log_mark_keeper.h"

#include <cstdint>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/files/data_directory.h"
#include "proto/support/durable_file.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {

std::string LogMarkFileIn(const std::string& data_directory) {
  return absl::StrCat(data_directory, "/", kLogMarkFile);
}

// The file has one line: cluster id, term, sequence number, job id.
v1::LogMark ReadLogMarkFile(const std::string& path, const std::string& cluster_id) {
  const auto text = ReadSmallFile(path);
  if (!text.ok()) return {};
  std::istringstream words(*text);
  std::string cluster;
  uint64_t term = 0;
  uint64_t sequence = 0;
  int64_t job_id = -1;
  words >> cluster >> term >> sequence >> job_id;
  if (words.fail() || cluster != cluster_id || job_id < 0) return {};
  v1::LogMark mark;
  mark.set_term(term);
  mark.set_sequence(sequence);
  mark.set_job_id(job_id);
  return mark;
}

LogMarkKeeper::LogMarkKeeper(std::string path, std::string cluster_id,
                             std::chrono::milliseconds interval)
    : path_(std::move(path)), cluster_id_(std::move(cluster_id)), interval_(interval) {}

LogMarkKeeper::~LogMarkKeeper() { Stop(); }

void LogMarkKeeper::Start() {
  if (!path_.empty()) thread_ = std::thread([this] { Run(); });
}

void LogMarkKeeper::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LogMarkKeeper::Note(const v1::LogMark& mark) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(noted_, mark).has_value()) return;
  }
  changed_.notify_all();
}

void LogMarkKeeper::Run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait(lock, [this] { return stopping_ || noted_.has_value(); });
    Write(lock);
    changed_.wait_for(lock, interval_, [this] { return stopping_; });
  }
  Write(lock);
}

void LogMarkKeeper::Write(std::unique_lock<std::mutex>& lock) {
  if (!noted_.has_value()) return;
  const v1::LogMark mark = *std::exchange(noted_, std::nullopt);
  lock.unlock();
  const absl::Status status = WriteFileAtomically(
      path_,
      absl::StrCat(cluster_id_, " ", mark.term(), " ", mark.sequence(), " ", mark.job_id(), "\n"));
  if (!std::exchange(failed_, !status.ok()) && !status.ok()) {
    spdlog::warn(
        "cannot keep the position of the event log: {}; until this works, this controller may not "
        "notice a fail-over of the database that loses events",
        std::string(status.message()));
  }
  lock.lock();
  if (!status.ok() && !noted_.has_value()) noted_ = mark;
}

}  // namespace trainyard::controller
