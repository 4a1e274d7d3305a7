#include "data/bpe/merge_table.h"

#include <utility>

namespace trainyard::data {
namespace {

bool Fit(uint32_t left, uint32_t right, uint32_t result) {
  return left < kTokensMax && right < kTokensMax && result < kTokensMax;
}

}  // namespace

bool MergeTable::Add(uint32_t left, uint32_t right, uint32_t result) {
  if (!Fit(left, right, result) || results_.size() >= kMergesMax) return false;
  const uint64_t pair = PairOf(left, right);
  Store(pair, static_cast<uint32_t>(results_.size()));
  results_.push_back(result);
  pairs_of_last_rank_ = {pair};
  return true;
}

bool MergeTable::AddWithLastRank(uint32_t left, uint32_t right, uint32_t result) {
  if (!Fit(left, right, result) || results_.empty()) return false;
  const uint64_t pair = PairOf(left, right);
  Store(pair, static_cast<uint32_t>(results_.size() - 1));
  if (results_.back() != result && results_.back() != kNoToken) {
    for (const uint64_t earlier : pairs_of_last_rank_) results_by_pair_[earlier] = results_.back();
    results_.back() = kNoToken;
  }
  if (results_.back() == kNoToken) results_by_pair_[pair] = result;
  pairs_of_last_rank_.push_back(pair);
  return true;
}

void MergeTable::Store(uint64_t pair, uint32_t rank) {
  if ((used_slots_ + 1) * 2 > slots_.size()) Grow();
  size_t at = SlotOf(pair);
  while (slots_[at] != kFreeSlot && (slots_[at] >> kRankBits) != pair) {
    at = (at + 1) & (slots_.size() - 1);
  }
  if (slots_[at] == kFreeSlot) ++used_slots_;
  slots_[at] = (pair << kRankBits) | rank;
}

void MergeTable::Grow() {
  const auto old = std::exchange(slots_, {});
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
