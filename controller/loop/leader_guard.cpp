#include "controller/loop/leader_guard.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"
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

LeaderGuard::LeaderGuard(std::unique_ptr<LeaderSeat> seat, OnLost on_lost, OnHandOver on_hand_over)
    : seat_(std::move(seat)),
      on_lost_(std::move(on_lost)),
      on_hand_over_(std::move(on_hand_over)),
      thread_([this] { Run(); }) {}

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

void LeaderGuard::HigherTermSeen(int64_t term) {
  {
    const std::lock_guard lock(mutex_);
    higher_term_ = std::max(higher_term_, term);
  }
  wake_.notify_all();
}

absl::Status LeaderGuard::Checked(absl::Status status) const {
  if (absl::IsAborted(status)) on_lost_(status);
  return status;
}

absl::StatusOr<std::vector<StandbyReport>> LeaderGuard::Standbys() {
  const std::lock_guard lock(seat_mutex_);
  return seat_->Standbys();
}

absl::Status LeaderGuard::Begin(const std::string& successor) {
  const std::lock_guard lock(seat_mutex_);
  if (hands_over_) {
    return absl::FailedPreconditionError(
        "a hand-over has begun; another controller leads in a moment");
  }
  TRAINYARD_RETURN_IF_ERROR(Checked(seat_->NameSuccessor(successor)));
  hands_over_ = true;
  return absl::OkStatus();
}

void LeaderGuard::Cancel() {
  const std::lock_guard lock(seat_mutex_);
  // After a failure, the name loses its effect within seconds.
  if (const absl::Status status = Checked(seat_->NameSuccessor("")); !status.ok()) {
    spdlog::warn("cannot withdraw a hand-over: {}", std::string(status.message()));
  }
  hands_over_ = false;
}

void LeaderGuard::Finish() {
  if (on_hand_over_) on_hand_over_();
}

void LeaderGuard::Run() {
  const std::chrono::milliseconds interval(seat_->interval_ms());
  std::unique_lock lock(mutex_);
  int64_t failed_term = 0;
  while (true) {
    wake_.wait_for(lock, interval, [&] { return stopping_ || higher_term_ > failed_term; });
    if (stopping_) return;
    const int64_t higher_term = higher_term_;
    lock.unlock();
    const bool leads = Renew(higher_term);
    lock.lock();
    if (!leads) return;
    // Try again at the next interval.
    failed_term = higher_term;
  }
}

bool LeaderGuard::Renew(int64_t higher_term) {
  const absl::Status status = [this, higher_term] {
    const std::lock_guard lock(seat_mutex_);
    return higher_term > 0 ? seat_->PassTerm(higher_term) : seat_->Step();
  }();
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
