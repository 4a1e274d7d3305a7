#include "data/bpe_training/merge_queue.h"

#include <algorithm>

namespace trainyard::data {
namespace {

// True if `b` must be returned before `a`.
bool IsLater(const QueuedPair& a, const QueuedPair& b) {
  return a.count != b.count ? a.count < b.count : a.pair > b.pair;
}

}  // namespace

void MergeQueue::PushToHeap(QueuedPair entry) {
  heap_.push_back(std::move(entry));
  std::push_heap(heap_.begin(), heap_.end(), IsLater);
}

std::optional<QueuedPair> MergeQueue::Pop() {
  while (heap_.empty()) {
    if (heap_power_ == 0) return std::nullopt;
    --heap_power_;
    heap_.swap(waiting_[heap_power_]);
    std::make_heap(heap_.begin(), heap_.end(), IsLater);
  }
  std::pop_heap(heap_.begin(), heap_.end(), IsLater);
  QueuedPair entry = std::move(heap_.back());
  heap_.pop_back();
  position_bytes_ -= entry.words.bytes();
  return entry;
}

size_t MergeQueue::bytes() const {
  size_t entries = heap_.capacity();
  for (const std::vector<QueuedPair>& list : waiting_) entries += list.capacity();
  return entries * sizeof(QueuedPair) + position_bytes_;
}

}  // namespace trainyard::data
