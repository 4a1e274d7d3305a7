#include "data/bpe/merge_symbols.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace trainyard::data {
namespace {

// Merges by a heap of candidates. A symbol covers a span of the first symbols, and is stored at the
// first position of its span. Needs 20 to 24 bytes per symbol.
class LongMerge {
 public:
  LongMerge(const MergeTable& merges, std::vector<uint32_t>& symbols)
      : merges_(merges),
        symbols_(symbols),
        count_(static_cast<uint32_t>(symbols.size())),
        ranks_(symbols.size(), kNoRank),
        bounds_(symbols.size()) {}

  void Run() {
    Begin();
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const uint64_t candidate = heap_.back();
      heap_.pop_back();
      if (IsValid(candidate)) Apply(PositionOf(candidate));
    }
    std::erase(symbols_, kNoToken);
  }

 private:
  void Begin() {
    size_t candidates = 0;
    for (uint32_t at = 0; at < count_; ++at) {
      bounds_[at] = at + 1;
      if (at + 1 == count_) break;
      ranks_[at] = merges_.RankOf(symbols_[at], symbols_[at + 1]);
      candidates += ranks_[at] != kNoRank ? 1 : 0;
    }
    heap_.reserve(candidates + candidates / 4 + 64);
    for (uint32_t at = 0; at < count_; ++at) {
      if (ranks_[at] != kNoRank) heap_.push_back(CandidateOf(at));
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  // The order of candidates is the order of merges: lowest rank, then leftmost.
  uint64_t CandidateOf(uint32_t position) const {
    return (uint64_t{ranks_[position]} << 32) | position;
  }
  static uint32_t PositionOf(uint64_t candidate) { return static_cast<uint32_t>(candidate); }

  // A candidate is stale if its symbols have been merged since with others.
  bool IsValid(uint64_t candidate) const {
    return ranks_[PositionOf(candidate)] == static_cast<uint32_t>(candidate >> 32);
  }

  // The first position behind the symbol at `position`.
  uint32_t EndOf(uint32_t position) const { return bounds_[position]; }
  // The position of the symbol that ends before `position`, which is not 0.
  uint32_t Previous(uint32_t position) const {
    // The last position of a longer span contains its first one.
    return std::min(bounds_[position - 1], position - 1);
  }

  void Apply(uint32_t position) {
    const uint32_t removed = EndOf(position);
    const uint32_t end = EndOf(removed);
    symbols_[position] = merges_.ResultOf(ranks_[position], symbols_[position], symbols_[removed]);
    symbols_[removed] = kNoToken;
    ranks_[removed] = kNoRank;
    ranks_[position] = kNoRank;
    bounds_[position] = end;
    bounds_[end - 1] = position;
    UpdateRank(position);
    if (position > 0) UpdateRank(Previous(position));
  }

  void UpdateRank(uint32_t position) {
    const uint32_t next = EndOf(position);
    const uint32_t rank =
        next == count_ ? kNoRank : merges_.RankOf(symbols_[position], symbols_[next]);
    if (rank == ranks_[position]) return;  // its candidate is in the heap
    ranks_[position] = rank;
    if (rank == kNoRank) return;
    if (heap_.size() == heap_.capacity()) RemoveStale();
    heap_.push_back(CandidateOf(position));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  // Bounds the memory. Most candidates are stale after many merges.
  void RemoveStale() {
    std::erase_if(heap_, [this](uint64_t candidate) { return !IsValid(candidate); });
    // Pairs of equal rank can put a candidate into the heap twice. A sorted vector is a heap.
    std::sort(heap_.begin(), heap_.end());
    heap_.erase(std::unique(heap_.begin(), heap_.end()), heap_.end());
    const size_t capacity = heap_.capacity();
    if (heap_.size() > capacity - capacity / 8) heap_.reserve(capacity + capacity / 4);
  }

  const MergeTable& merges_;
  std::vector<uint32_t>& symbols_;  // kNoToken at positions that were merged into their left
  const uint32_t count_;
  std::vector<uint32_t> ranks_;  // of the merge of a symbol and the one after it
  // At the first position of a span: the position behind it. At the last position of a span of
  // several positions: the first one.
  std::vector<uint32_t> bounds_;
  std::vector<uint64_t> heap_;
};

// Removes the element at `index`.
void RemoveAt(uint32_t* values, size_t count, size_t index) {
  std::memmove(values + index, values + index + 1, (count - index - 1) * sizeof(uint32_t));
}

}  // namespace

size_t MergeShort(const MergeTable& merges, uint32_t* symbols, size_t count) {
  // ranks[i] is the rank of the merge of symbols i and i + 1.
  uint32_t ranks[kShortSymbolsMax];
  for (size_t i = 0; i + 1 < count; ++i) merges.Prefetch(symbols[i], symbols[i + 1]);
  for (size_t i = 0; i + 1 < count; ++i) ranks[i] = merges.RankOf(symbols[i], symbols[i + 1]);
  while (count > 1) {
    // min_element returns the first one of equal ranks.
    const size_t at = std::min_element(ranks, ranks + count - 1) - ranks;
    if (ranks[at] == kNoRank) break;
    symbols[at] = merges.ResultOf(ranks[at], symbols[at], symbols[at + 1]);
    RemoveAt(symbols, count, at + 1);
    RemoveAt(ranks, count - 1, at);
    --count;
    if (at + 1 < count) ranks[at] = merges.RankOf(symbols[at], symbols[at + 1]);
    if (at > 0) ranks[at - 1] = merges.RankOf(symbols[at - 1], symbols[at]);
  }
  return count;
}

void MergeLong(const MergeTable& merges, std::vector<uint32_t>* symbols) {
  LongMerge(merges, *symbols).Run();
}

}  // namespace trainyard::data
