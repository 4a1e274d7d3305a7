#include "controller/loop/loop_queue.h"

#include <utility>

namespace trainyard::controller {

bool LoopQueue::AddRequest(Work work) {
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(work));
  return !std::exchange(pass_due_, true);
}

bool LoopQueue::AddMessage(const void* worker, Work work) {
  const std::lock_guard lock(mutex_);
  messages_.Push(worker, std::move(work));
  return !std::exchange(pass_due_, true);
}

bool LoopQueue::AddPass() {
  const std::lock_guard lock(mutex_);
  return !std::exchange(pass_due_, true);
}

std::optional<LoopQueue::Work> LoopQueue::NextRequest() {
  const std::lock_guard lock(mutex_);
  if (requests_.empty()) return std::nullopt;
  Work work = std::move(requests_.front());
  requests_.pop_front();
  return work;
}

std::optional<LoopQueue::Work> LoopQueue::NextMessage() {
  const std::lock_guard lock(mutex_);
  if (messages_.empty()) return std::nullopt;
  return messages_.Pop();
}

bool LoopQueue::EndPass(bool wants_more) {
  const std::lock_guard lock(mutex_);
  pass_due_ = wants_more || !requests_.empty() || !messages_.empty();
  return pass_due_;
}

std::size_t LoopQueue::size() const {
  const std::lock_guard lock(mutex_);
  return requests_.size() + messages_.size();
}

}  // namespace trainyard::controller
