#include "controller/store/postgres/leader_lease.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace trainyard::controller {

LeaderLease::LeaderLease(std::unique_ptr<Leadership> leadership, OnLost on_lost)
    : leadership_(std::move(leadership)),
      on_lost_(std::move(on_lost)),
      thread_([this] { Run(); }) {}

LeaderLease::~LeaderLease() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void LeaderLease::Run() {
  std::unique_lock lock(mutex_);
  const auto stopping = [this] { return stopping_; };
  while (!wake_.wait_for(lock, std::chrono::milliseconds(leadership_->interval_ms()), stopping)) {
    lock.unlock();
    const absl::Status status = leadership_->Step();
    if (absl::IsAborted(status)) return on_lost_(status);
    if (!leadership_->MayAnswer()) {
      return on_lost_(absl::AbortedError(absl::StrCat(
          "the leadership of term ", leadership_->term(),
          " could not be renewed in time, so another controller may lead: ", status.message())));
    }
    lock.lock();
  }
}

}  // namespace trainyard::controller
