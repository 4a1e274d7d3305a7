#include "data/bpe/merge_table.h"

#include <utility>

namespace trainyard::data {

bool MergeTable::Add(uint32_t left, uint32_t right, uint32_t result) {
  if (left >= kTokensMax || right >= kTokensMax || result >= kTokensMax) return false;
  if (results_.size() >= kMergesMax) return false;
  if ((used_slots_ + 1) * 2 > slots_.size()) Grow();
  const uint64_t pair = PairOf(left, right);
  size_t at = SlotOf(pair);
  while (slots_[at] != kFreeSlot && (slots_[at] >> kRankBits) != pair) {
    at = (at + 1) & (slots_.size() - 1);
  }
  if (slots_[at] == kFreeSlot) ++used_slots_;
  slots_[at] = (pair << kRankBits) | results_.size();
  results_.push_back(result);
  return true;
}

void MergeTable::Grow() {
  const std::vector<uint64_t> old = std::exchange(slots_, {});
  slots_.assign(old.size() * 2, kFreeSlot);
  --shift_;
  for (const uint64_t slot : old) {
    if (slot == kFreeSlot) continue;
    size_t at = SlotOf(slot >> kRankBits);
    while (slots_[at] != kFreeSlot) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
}

}  // namespace trainyard::data
