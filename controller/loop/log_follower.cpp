#include "controller/loop/log_follower.h"

#include <utility>

#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {

LogFollower::LogFollower(OpenTail open_tail, const Clock& clock,
                         std::chrono::milliseconds poll_every)
    : open_tail_(std::move(open_tail)), clock_(clock), poll_every_(poll_every) {}

LogFollower::~LogFollower() { Stop(); }

void LogFollower::Start() {
  thread_ = std::thread([this] { Run(); });
}

void LogFollower::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool LogFollower::IsStopping() const {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

std::string LogFollower::Problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

std::shared_ptr<ReplayedState> LogFollower::Take() {
  Stop();
  if (replayed_ == nullptr || tail_ == nullptr || !tail_->IsSameSession()) return nullptr;
  return std::move(replayed_);
}

void LogFollower::Forget() {
  tail_.reset();
  replayed_.reset();
  position_ = 0;
}

void LogFollower::Run() {
  while (true) {
    const absl::Status status = CatchUp();
    const std::string error(status.message());
    if (std::exchange(error_, error) != error && !error.empty()) {
      spdlog::warn("this standby does not follow the log: {}", error);
    }
    if (!status.ok()) Forget();
    std::unique_lock lock(mutex_);
    // A release never learns new kinds of events.
    if (absl::IsUnimplemented(status)) {
      problem_ = error;
      return;
    }
    if (status.ok()) backoff_.Reset();
    const std::chrono::milliseconds pause = status.ok() ? poll_every_ : backoff_.Next();
    if (wake_.wait_for(lock, pause, [this] { return stopping_; })) return;
  }
}

absl::Status LogFollower::CatchUp() {
  if (tail_ == nullptr) {
    TRAINYARD_ASSIGN_OR_RETURN(tail_, open_tail_());
  }
  bool has_more = true;
  while (has_more && !IsStopping()) {
    const uint64_t after = replayed_ == nullptr ? 0 : replayed_->last_sequence;
    TRAINYARD_ASSIGN_OR_RETURN(LogTail::Batch batch, tail_->ReadAfter(after));
    has_more = batch.has_more;
    TRAINYARD_RETURN_IF_ERROR(ApplyBatch(std::move(batch)));
  }
  return absl::OkStatus();
}

absl::Status LogFollower::ApplyBatch(LogTail::Batch batch) {
  if (batch.restarts) replayed_ = std::make_shared<ReplayedState>();
  TRAINYARD_RETURN_IF_ERROR(
      controller::ApplyBatch(std::move(batch), clock_.Read().steady_ms, *replayed_));
  position_ = static_cast<int64_t>(replayed_->last_sequence);
  return absl::OkStatus();
}

}  // namespace trainyard::controller
