// The tokens of a vocabulary: bytes by id, and id by bytes.
#ifndef TRAINYARD_DATA_BPE_VOCABULARY_H_
#define TRAINYARD_DATA_BPE_VOCABULARY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/bpe/huge_page_allocator.h"

namespace trainyard::data {

// Larger than every id, and the mark of unused places in tables of ids.
inline constexpr uint32_t kNoToken = 0xFFFFFFFF;

// Ids are below this limit, so that a merge fits into 64 bits (merge_table.h). One less than 2^21.
inline constexpr uint32_t kTokensMax = (1u << 21) - 1;

class Vocabulary {
 public:
  // Adds a token. Returns false and changes nothing if the id is used already, if it is not below
  // kTokensMax, if `bytes` is empty, or if all tokens together exceed 4 GiB.
  // If two tokens have equal bytes, Find returns the one that was added first.
  bool Add(uint32_t id, std::string_view bytes);

  // Returns kNoToken if no token has these bytes.
  uint32_t Find(std::string_view bytes) const;

  // Returns "" for an unused id.
  std::string_view BytesOf(uint32_t id) const {
    if (id >= places_.size()) return {};
    const Place& place = places_[id];
    return std::string_view(bytes_).substr(place.begin, place.length);
  }

  // The number of tokens.
  uint32_t count() const { return count_; }
  // The largest id plus one. Larger than count() if some ids are unused.
  uint32_t id_limit() const { return static_cast<uint32_t>(places_.size()); }

 private:
  struct Place {
    uint32_t begin = 0;   // in bytes_
    uint32_t length = 0;  // 0 for an unused id
  };

  // Returns the slot of the token with these bytes, or the free slot in which to store it.
  size_t SlotOf(std::string_view bytes, uint64_t hash) const;
  void Grow();

  std::string bytes_;
  std::vector<Place> places_;  // by id
  // Open addressing with linear probing. The size is a power of two, and at most half is used.
  struct Slot {
    uint32_t id = kNoToken;
    uint32_t tag = 0;  // low bits of the hash, which spare most comparisons of different tokens
  };
  std::vector<Slot, HugePageAllocator<Slot>> slots_;
  uint32_t used_slots_ = 0;
  uint32_t count_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_VOCABULARY_H_
