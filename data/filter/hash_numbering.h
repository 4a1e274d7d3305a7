// Numbers distinct 64-bit keys in the order of their first occurrence.
#ifndef TRAINYARD_DATA_FILTER_HASH_NUMBERING_H_
#define TRAINYARD_DATA_FILTER_HASH_NUMBERING_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace trainyard::data {

class HashNumbering {
 public:
  // Removes all keys. The table is fast at once for up to `expected_keys`, and grows if more
  // follow.
  void Clear(size_t expected_keys) {
    Reset(std::bit_ceil(std::max<size_t>(expected_keys * 2, kLeastSlots)));
  }

  // Returns the number of `key`, which is the old size() if the key is new. There may be fewer than
  // 2^32 - 1 keys.
  uint32_t Number(uint64_t key) {
    Slot& slot = Find(key);
    if (slot.number_plus_1 != 0) return slot.number_plus_1 - 1;
    slot = {key, ++size_};
    if (size_ * size_t{2} > slots_.size()) Grow();
    return size_ - 1;
  }

  uint32_t size() const { return size_; }

 private:
  static constexpr size_t kLeastSlots = 64;

  struct Slot {
    uint64_t key = 0;
    uint32_t number_plus_1 = 0;  // 0: the slot is empty
  };

  // Returns the slot that has the key or in which it belongs.
  Slot& Find(uint64_t key) {
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    hash = (hash ^ (hash >> 32)) * 0x94D049BB133111EBu;
    size_t at = hash >> shift_;
    while (slots_[at].number_plus_1 != 0 && slots_[at].key != key) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return slots_[at];
  }

  void Reset(size_t slots) {
    shift_ = 64 - std::countr_zero(slots);
    slots_.assign(slots, Slot());
    size_ = 0;
  }

  void Grow() {
    const std::vector<Slot> old = std::move(slots_);
    const uint32_t size = size_;
    Reset(old.size() * 2);
    for (const Slot& slot : old) {
      if (slot.number_plus_1 != 0) Find(slot.key) = slot;
    }
    size_ = size;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(kLeastSlots);  // the size is a power of two
  uint32_t size_ = 0;
  int shift_ = 64 - std::countr_zero(kLeastSlots);
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_HASH_NUMBERING_H_
