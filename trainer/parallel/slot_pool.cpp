#include "trainer/parallel/slot_pool.h"

#include <algorithm>

namespace trainyard::trainer {

std::shared_ptr<SlotPool::Lease> SlotPool::Take(const std::shared_ptr<SlotPool>& pool) {
  const std::lock_guard<std::mutex> lock(pool->mutex_);
  std::vector<bool>& is_taken = pool->is_taken_;
  const auto free = std::find(is_taken.begin(), is_taken.end(), false);
  if (free == is_taken.end()) return nullptr;
  *free = true;
  return std::make_shared<Lease>(pool, free - is_taken.begin());
}

void SlotPool::Free(int64_t slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_taken_[slot] = false;
}

}  // namespace trainyard::trainer
