#include "data/bpe/merge_symbols.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace trainyard::data {
namespace {

constexpr uint32_t kNoPosition = 0xFFFFFFFF;

// Merges by a heap of candidates over a linked list of symbols. A symbol keeps its position; a
// merge stores the result at the position of its left symbol.
class LongMerge {
 public:
  LongMerge(const MergeTable& merges, std::vector<uint32_t>& symbols)
      : merges_(merges),
        symbols_(symbols),
        ranks_(symbols.size(), kNoRank),
        next_(symbols.size()),
        previous_(symbols.size()) {}

  void Run() {
    Link();
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const uint64_t candidate = heap_.back();
      heap_.pop_back();
      const auto position = static_cast<uint32_t>(candidate);
      const auto rank = static_cast<uint32_t>(candidate >> 32);
      // A candidate is stale if its symbols have been merged since with others.
      if (ranks_[position] == rank) Apply(position, rank);
    }
    Compact();
  }

 private:
  void Link() {
    const auto count = static_cast<uint32_t>(symbols_.size());
    for (uint32_t at = 0; at < count; ++at) {
      previous_[at] = at == 0 ? kNoPosition : at - 1;
      next_[at] = at + 1 == count ? kNoPosition : at + 1;
      if (at + 1 == count) break;
      ranks_[at] = merges_.RankOf(symbols_[at], symbols_[at + 1]);
      if (ranks_[at] != kNoRank) heap_.push_back(CandidateOf(at));
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  // The order of candidates is the order of merges: lowest rank, then leftmost.
  uint64_t CandidateOf(uint32_t position) const {
    return (uint64_t{ranks_[position]} << 32) | position;
  }

  void Apply(uint32_t position, uint32_t rank) {
    const uint32_t removed = next_[position];
    symbols_[position] = merges_.ResultOf(rank, symbols_[position], symbols_[removed]);
    symbols_[removed] = kNoToken;
    ranks_[removed] = kNoRank;
    next_[position] = next_[removed];
    if (next_[position] != kNoPosition) previous_[next_[position]] = position;
    UpdateRank(position);
    if (previous_[position] != kNoPosition) UpdateRank(previous_[position]);
  }

  void UpdateRank(uint32_t position) {
    const uint32_t next = next_[position];
    const uint32_t rank =
        next == kNoPosition ? kNoRank : merges_.RankOf(symbols_[position], symbols_[next]);
    ranks_[position] = rank;
    if (rank == kNoRank) return;
    heap_.push_back(CandidateOf(position));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  void Compact() { std::erase(symbols_, kNoToken); }

  const MergeTable& merges_;
  std::vector<uint32_t>& symbols_;  // kNoToken at positions that were merged into their left
  std::vector<uint32_t> ranks_;     // of the merge of a symbol and the one after it
  std::vector<uint32_t> next_;
  std::vector<uint32_t> previous_;
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
