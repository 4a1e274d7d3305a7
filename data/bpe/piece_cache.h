// Ids of pieces that were encoded earlier. Text repeats its pieces: a look-up takes a tenth of the
// time of merging.
#ifndef TRAINYARD_DATA_BPE_PIECE_CACHE_H_
#define TRAINYARD_DATA_BPE_PIECE_CACHE_H_

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "data/bpe/hash.h"
#include "data/bpe/huge_page_allocator.h"

namespace trainyard::data {

// Caches pieces of at most 15 bytes that have at most 4 ids, in slots of 32 bytes. Two slots share
// a cache line. Uses at most 32 MiB, and 40 MiB while it grows.
class PieceCache {
 public:
  static constexpr size_t kPieceBytesMax = 15;
  static constexpr size_t kIdsMax = 4;

  // A piece in 16 bytes: the bytes of the piece, zeros, and the length in the last byte.
  struct Key {
    uint64_t low = 0;
    uint64_t high = 0;
    uint64_t Hash() const { return MixWords(low, high); }
  };
  // `length` is between 1 and kPieceBytesMax. 16 bytes must be readable at `bytes`.
  static Key KeyOf(const char* bytes, size_t length) {
    Key key;
    std::memcpy(&key.low, bytes, sizeof(key.low));
    std::memcpy(&key.high, bytes + sizeof(key.low), sizeof(key.high));
    key.low &= kLowMasks[length];
    key.high = (key.high & kHighMasks[length]) | (uint64_t{length} << kLengthShift);
    return key;
  }

  struct Slot {
    uint64_t low;
    uint64_t high;  // as in the key, with the number of ids in the upper half of the last byte
    uint32_t ids[kIdsMax];
    size_t count() const { return high >> kCountShift; }
  };

  PieceCache() { Allocate(kFirstSlotBits); }

  void Prefetch(uint64_t hash) const { __builtin_prefetch(&slots_[hash >> shift_]); }

  // Returns null if the piece is not cached.
  const Slot* Find(const Key& key, uint64_t hash) const {
    size_t at = hash >> shift_;
    for (size_t probe = 0; probe < kProbesMax; ++probe, at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      // The shift removes the number of ids.
      if (slot.low == key.low && ((slot.high ^ key.high) << 4) == 0) return &slot;
      if (slot.high == 0) return nullptr;
    }
    return nullptr;
  }

  // `count` is between 1 and kIdsMax. The piece must not be cached yet.
  void Insert(const Key& key, uint64_t hash, const uint32_t* ids, size_t count);

  size_t bytes() const { return (mask_ + 1) * sizeof(Slot); }

 private:
  static constexpr int kLengthShift = 56;
  static constexpr int kCountShift = 60;
  static constexpr int kFirstSlotBits = 12;
  static constexpr int kLastSlotBits = 20;
  // Limits a look-up among pieces that were chosen to have close hashes.
  static constexpr size_t kProbesMax = 32;
  static const uint64_t kLowMasks[kPieceBytesMax + 1];
  static const uint64_t kHighMasks[kPieceBytesMax + 1];

  void Allocate(int slot_bits);
  void MakeSpace();
  void Store(const Slot& slot, uint64_t hash);

  std::vector<Slot, HugePageAllocator<Slot>> slots_;
  size_t mask_ = 0;
  int shift_ = 0;
  size_t used_ = 0;
};

// Caches pieces that do not fit into PieceCache. Uses at most 20 MiB.
class LongPieceCache {
 public:
  static constexpr size_t kPieceBytesMax = 255;

  struct Ids {
    const uint32_t* begin = nullptr;  // null if the piece is not cached
    size_t count = 0;
  };

  LongPieceCache() : slots_(kFirstSlots) {}

  Ids Find(std::string_view piece, uint64_t hash) const;

  // Ignores pieces longer than kPieceBytesMax. The piece must not be cached yet and has at most as
  // many ids as bytes.
  void Insert(std::string_view piece, uint64_t hash, const std::vector<uint32_t>& ids);

  size_t bytes() const {
    return slots_.size() * sizeof(Slot) + contents_.capacity() * sizeof(uint32_t);
  }

 private:
  static constexpr size_t kFirstSlots = 1024;
  static constexpr size_t kLastSlots = size_t{1} << 17;
  static constexpr size_t kContentsMax = size_t{16} << 18;  // 16 MiB in words

  struct Slot {
    uint64_t hash = 0;
    uint32_t begin = 0;   // in contents_
    uint16_t length = 0;  // of the piece in bytes; 0 for a free slot
    uint16_t count = 0;   // of ids
  };

  size_t SlotOf(std::string_view piece, uint64_t hash) const;
  void MakeSpace();

  std::vector<Slot> slots_;  // open addressing; the size is a power of two
  size_t used_ = 0;
  std::vector<uint32_t> contents_;  // of each piece: its ids, then its bytes
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_PIECE_CACHE_H_
