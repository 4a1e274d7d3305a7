#include "controller/core/state/job_queue.h"

#include <algorithm>

namespace trainyard::controller {

QueueKey QueueKeyOf(const v1::Job& job) { return {job.id()}; }

void JobQueue::Insert(const QueueKey& key) {
  keys_.insert(std::ranges::lower_bound(keys_, key), key);
}

void JobQueue::Remove(const QueueKey& key) {
  const auto found = std::ranges::lower_bound(keys_, key);
  if (found != keys_.end() && *found == key) keys_.erase(found);
}

bool JobQueue::Contains(const QueueKey& key) const {
  return std::ranges::binary_search(keys_, key);
}

std::size_t JobQueue::CountBefore(const QueueKey& key) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(keys_, key) - keys_.begin());
}

}  // namespace trainyard::controller
