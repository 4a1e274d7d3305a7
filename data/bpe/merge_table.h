// The merges of a BPE vocabulary: which two tokens become which token, and in which order.
#ifndef TRAINYARD_DATA_BPE_MERGE_TABLE_H_
#define TRAINYARD_DATA_BPE_MERGE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "data/bpe/huge_page_allocator.h"
#include "data/bpe/vocabulary.h"

namespace trainyard::data {

// Larger than every rank.
inline constexpr uint32_t kNoRank = 0xFFFFFFFF;

// Ranks are below this limit, so that a merge fits into 64 bits.
inline constexpr uint32_t kMergesMax = (1u << 22) - 1;

class MergeTable {
 public:
  MergeTable() : slots_(kFirstSlots, kFreeSlot) {}

  // Adds a merge behind all others: its rank is the number of merges so far. Returns false and
  // changes nothing if an id is not below kTokensMax, or if there are kMergesMax merges already.
  // A repeated pair replaces the former rank and result, as in Hugging Face's library.
  bool Add(uint32_t left, uint32_t right, uint32_t result);

  // Adds a merge with the rank of the last one, which must exist. Among pairs of equal rank the
  // leftmost one is merged first, even if their results differ. SentencePiece needs this: its ranks
  // are scores of tokens, and every way to make a token has the same score.
  bool AddWithLastRank(uint32_t left, uint32_t right, uint32_t result);

  // Loads the memory that RankOf will read.
  void Prefetch(uint32_t left, uint32_t right) const {
    __builtin_prefetch(&slots_[SlotOf(PairOf(left, right))]);
  }

  // Returns the rank of the merge of two tokens, or kNoRank if they do not merge.
  uint32_t RankOf(uint32_t left, uint32_t right) const {
    const uint64_t pair = PairOf(left, right);
    for (size_t at = SlotOf(pair);; at = (at + 1) & (slots_.size() - 1)) {
      const uint64_t slot = slots_[at];
      if ((slot >> kRankBits) == pair) return static_cast<uint32_t>(slot & kRankMask);
      if (slot == kFreeSlot) return kNoRank;
    }
  }

  // Returns the token that two tokens with the given rank become.
  uint32_t ResultOf(uint32_t rank, uint32_t left, uint32_t right) const {
    const uint32_t result = results_[rank];
    return result != kNoToken ? result : results_by_pair_.at(PairOf(left, right));
  }

  // The number of ranks.
  size_t size() const { return results_.size(); }

  // The token that merges make, by rank. kNoToken if merges of a rank make different tokens.
  const std::vector<uint32_t>& results() const { return results_; }

 private:
  // A slot has the left id (21 bits), the right id (21 bits) and the rank (22 bits), so that a
  // cache line has eight merges. The free slot has a pair and a rank that no merge has.
  static constexpr int kIdBits = 21;
  static constexpr int kRankBits = 22;
  static constexpr uint64_t kRankMask = (uint64_t{1} << kRankBits) - 1;
  static constexpr uint64_t kFreeSlot = ~uint64_t{0};
  static constexpr size_t kFirstSlots = 1024;
  static_assert(kTokensMax < 1u << kIdBits && kMergesMax == kRankMask);

  static uint64_t PairOf(uint32_t left, uint32_t right) {
    return (uint64_t{left} << kIdBits) | right;
  }
  size_t SlotOf(uint64_t pair) const { return (pair * 0x9E3779B97F4A7C15u) >> shift_; }
  void Store(uint64_t pair, uint32_t rank);
  void Grow();

  // Open addressing with linear probing. The size is 2^(64 - shift_), and at most half is used.
  std::vector<uint64_t, HugePageAllocator<uint64_t>> slots_;
  int shift_ = 54;
  size_t used_slots_ = 0;
  // By rank. kNoToken if merges of this rank make different tokens.
  std::vector<uint32_t> results_;
  // Merges whose rank was shared when they were added, by pair.
  std::unordered_map<uint64_t, uint32_t> results_by_pair_;
  std::vector<uint64_t> pairs_of_last_rank_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_MERGE_TABLE_H_
