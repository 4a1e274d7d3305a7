// Counts of pairs of adjacent symbols.
#ifndef TRAINYARD_DATA_BPE_TRAINING_PAIR_COUNTS_H_
#define TRAINYARD_DATA_BPE_TRAINING_PAIR_COUNTS_H_

#include <cstddef>
#include <cstdint>

#include "data/bpe_training/mapped_array.h"

namespace trainyard::data {

// Two symbols in one word: the left id in the high half. Orders as (left, right).
using SymbolPair = uint64_t;

inline SymbolPair MakePair(uint32_t left, uint32_t right) { return uint64_t{left} << 32 | right; }
inline uint32_t LeftOf(SymbolPair pair) { return static_cast<uint32_t>(pair >> 32); }
inline uint32_t RightOf(SymbolPair pair) { return static_cast<uint32_t>(pair); }

// A hash table with linear probing. Pairs are never removed.
class PairCounts {
 public:
  // Ensures that the next `pairs` calls of Add move no slot. Returns false if the system has not
  // enough memory.
  [[nodiscard]] bool MakeSpace(size_t pairs);

  // Adds to the count of a pair, which is 0 at first. Returns the slot of the pair.
  size_t Add(SymbolPair pair, int64_t change) {
    Slot* slot = Find(pair);
    used_ += slot->pair_plus_one == 0;
    slot->pair_plus_one = pair + 1;
    slot->count += change;
    return static_cast<size_t>(slot - slots_.data());
  }

  int64_t Get(SymbolPair pair) const { return Find(pair)->count; }
  int64_t CountOf(size_t slot) const { return slots_[slot].count; }
  void Prefetch(SymbolPair pair) const { __builtin_prefetch(&slots_[Home(pair)], 1); }

  // Memory in bytes after MakeSpace(pairs), and while the call copies the slots.
  size_t PeakBytesFor(size_t pairs) const;
  size_t bytes() const { return slots_.bytes(); }

 private:
  struct Slot {
    uint64_t pair_plus_one;  // 0: unused. Ids are below 2^32 - 1, so this does not overflow.
    int64_t count;
  };

  size_t Home(SymbolPair pair) const {
    return ((pair ^ pair >> 31) * 0x9E3779B97F4A7C15u) >> shift_;
  }
  const Slot* Find(SymbolPair pair) const {
    size_t at = Home(pair);
    while (slots_[at].pair_plus_one != pair + 1 && slots_[at].pair_plus_one != 0) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return &slots_[at];
  }
  Slot* Find(SymbolPair pair) {
    return const_cast<Slot*>(static_cast<const PairCounts*>(this)->Find(pair));
  }
  // Number of slots, a power of two, of which `pairs` more pairs use at most two thirds.
  size_t SlotsFor(size_t pairs) const;

  MappedArray<Slot> slots_;
  size_t used_ = 0;
  int shift_ = 64;  // 64 - log2 of the number of slots
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_PAIR_COUNTS_H_
