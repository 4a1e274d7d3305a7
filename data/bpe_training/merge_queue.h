// The pairs that may be merged, ordered by their counts.
#ifndef TRAINYARD_DATA_BPE_TRAINING_MERGE_QUEUE_H_
#define TRAINYARD_DATA_BPE_TRAINING_MERGE_QUEUE_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "data/bpe_training/pair_counts.h"

namespace trainyard::data {

// Positions of words in a WordList. The number of positions is fixed in advance, because most lists
// have one position and memory for growth would double the total.
class WordPositions {
 public:
  WordPositions() = default;
  explicit WordPositions(uint32_t capacity)
      : many_(capacity > 1 ? new uint32_t[capacity] : nullptr) {}

  void Append(uint32_t position) { (many_ != nullptr ? many_.get() : &only_)[size_++] = position; }
  std::span<const uint32_t> all() const { return {many_ != nullptr ? many_.get() : &only_, size_}; }
  // Memory outside this object in bytes.
  size_t bytes() const { return BytesFor(size_); }

  // Memory of a list of `size` positions, in bytes. Includes the allocator's header and rounding.
  static size_t BytesFor(size_t size) {
    return size <= 1 ? 0 : (size * sizeof(uint32_t) + kAllocatorBytes) / 16 * 16;
  }

 private:
  static constexpr size_t kAllocatorBytes = 24;

  std::unique_ptr<uint32_t[]> many_;
  uint32_t size_ = 0;
  uint32_t only_ = 0;
};

// A pair as it was when a merge created its occurrences.
//
// A pair is queued once, because one merge creates all its occurrences: the merge that creates the
// younger of its two symbols. No other merge creates the same symbol: if ends of symbols enclose
// the text of a token, no earlier symbol crossed these ends, so the same merges were applied
// between them, in the same order. A text therefore becomes a token by one merge, in all words.
struct QueuedPair {
  SymbolPair pair = 0;
  int64_t count = 0;  // At least 1. Too large if later merges replaced some occurrences.
  WordPositions words;
};

// Returns entries in descending order of counts. Entries with equal counts are in ascending order
// of pairs.
//
// Only entries with at least a certain power of two as count are in the heap. The others wait in
// lists, one per power of two. Most entries have small counts and are never compared.
class MergeQueue {
 public:
  void Push(QueuedPair entry) {
    position_bytes_ += entry.words.bytes();
    const int power = std::bit_width(static_cast<uint64_t>(entry.count)) - 1;
    if (power < heap_power_) {
      waiting_[power].push_back(std::move(entry));
    } else {
      PushToHeap(std::move(entry));
    }
  }
  // Returns nullopt if the queue is empty.
  std::optional<QueuedPair> Pop();

  // Memory in bytes.
  size_t bytes() const;

 private:
  void PushToHeap(QueuedPair entry);

  static constexpr int kPowers = 63;
  size_t position_bytes_ = 0;
  std::vector<QueuedPair> heap_;
  std::array<std::vector<QueuedPair>, kPowers> waiting_;  // waiting_[i]: 2^i <= count < 2^(i+1)
  int heap_power_ = kPowers;                              // All lists from this one on are empty.
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_MERGE_QUEUE_H_
