#include "controller/hooks/call_canceller.h"

#include "proto/support/asio.h"

namespace trainyard::controller {

void CallCanceller::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (io_ != nullptr) io_->stop();
}

bool CallCanceller::Enter(boost::asio::io_context* io) {
  const std::lock_guard lock(mutex_);
  io_ = io;
  return !cancelled_;
}

void CallCanceller::Leave() {
  const std::lock_guard lock(mutex_);
  io_ = nullptr;
}

bool CallCanceller::cancelled() const {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

}  // namespace trainyard::controller
