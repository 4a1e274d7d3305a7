#include "controller/leader_guard.h"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

absl::Status NotRenewed(const std::string& cause) {
  return absl::AbortedError(
      absl::StrCat("the leadership could not be renewed in time, so another controller may lead",
                   cause.empty() ? "" : ": ", cause));
}

}  // namespace

void ExitWithoutLeadership(const absl::Status& cause) {
  spdlog::critical(
      "this controller no longer leads: {}; it exits and continues as a standby at its next start; "
      "running jobs are not affected",
      std::string(cause.message()));
  spdlog::default_logger()->flush();
  std::_Exit(kExitLeadershipLost);
}

LeaderGuard::LeaderGuard(std::unique_ptr<LeaderSeat> seat, OnLost on_lost)
    : seat_(std::move(seat)), on_lost_(std::move(on_lost)), thread_([this] { Run(); }) {}

LeaderGuard::~LeaderGuard() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void LeaderGuard::CheckMayAnswer() const {
  if (!seat_->MayAnswer()) on_lost_(NotRenewed(""));
}

void LeaderGuard::Run() {
  std::unique_lock lock(mutex_);
  const auto stopping = [this] { return stopping_; };
  while (!wake_.wait_for(lock, std::chrono::milliseconds(seat_->interval_ms()), stopping)) {
    lock.unlock();
    const bool leads = Renew();
    lock.lock();
    if (!leads) return;
  }
}

bool LeaderGuard::Renew() {
  const absl::Status status = seat_->Step();
  if (absl::IsAborted(status)) {
    on_lost_(status);
    return false;
  }
  const std::string error(status.message());
  if (!seat_->MayAnswer()) {
    on_lost_(NotRenewed(error));
    return false;
  }
  if (std::exchange(error_, error) != error && !error.empty()) {
    spdlog::warn("cannot renew the leadership: {}; retrying", error);
  }
  return true;
}

}  // namespace trainyard::controller
