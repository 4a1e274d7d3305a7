#include "controller/storage/database_monitor.h"

#include <string>
#include <utility>

#include "proto/text/utf8.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {

DatabaseMonitor::DatabaseMonitor(DatabaseProbe* probe, const Clock& clock,
                                 std::chrono::milliseconds interval)
    : probe_(probe), clock_(clock), interval_(interval) {}

DatabaseMonitor::~DatabaseMonitor() { Stop(); }

void DatabaseMonitor::Start() {
  if (probe_ != nullptr) thread_ = std::thread([this] { Run(); });
}

void DatabaseMonitor::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void DatabaseMonitor::AddTo(v1::GetServerInfoResponse& info) const {
  if (probe_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  *info.mutable_database() = facts_.database;
  for (const v1::StandbyController& standby : facts_.standbys) *info.add_standbys() = standby;
}

void DatabaseMonitor::Run() {
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    Read();
    lock.lock();
  } while (!wake_.wait_for(lock, interval_, [this] { return stopping_; }));
}

void DatabaseMonitor::Read() {
  auto facts = probe_->Read(clock_.Now());
  const std::string error = ReplaceInvalidUtf8(std::string(facts.status().message()));
  std::string before;
  {
    const std::lock_guard lock(mutex_);
    before = facts_.database.error();
    // After an error, the facts of the last successful read stay.
    if (facts.ok()) facts_ = *std::move(facts);
    facts_.database.set_error(error);
  }
  if (error == before) return;
  if (error.empty()) {
    spdlog::info("the state of the database can be read again");
  } else {
    spdlog::warn("cannot read the state of the database: {}; retrying every {} s", error,
                 interval_.count() / 1000);
  }
}

}  // namespace trainyard::controller
