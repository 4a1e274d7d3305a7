#include "controller/rpc/read_budget.h"

#include <utility>

namespace trainyard::controller {

void ReadBudget::Take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  used_bytes_ += bytes;
}

void ReadBudget::Release(std::size_t bytes) {
  std::map<const void*, std::function<void()>> resumed;
  {
    const std::lock_guard lock(mutex_);
    used_bytes_ -= bytes;
    if (used_bytes_ < limit_bytes_) resumed.swap(waiting_);
  }
  for (const auto& [waiter, resume] : resumed) resume();
}

bool ReadBudget::AcquireOrWait(const void* waiter, std::function<void()> resume) {
  const std::lock_guard lock(mutex_);
  if (used_bytes_ < limit_bytes_) return true;
  waiting_[waiter] = std::move(resume);
  return false;
}

}  // namespace trainyard::controller
