// Numbers distinct 64-bit keys in the order of their first occurrence.
#ifndef TRAINYARD_DATA_FILTER_HASH_NUMBERING_H_
#define TRAINYARD_DATA_FILTER_HASH_NUMBERING_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainyard::data {

class HashNumbering {
 public:
  // Removes all keys. At most `keys` different keys may follow, fewer than 2^31.
  void Clear(size_t keys) {
    const size_t slots = std::bit_ceil(std::max<size_t>(keys * 2, kLeastSlots));
    shift_ = 64 - std::countr_zero(slots);
    slots_.assign(slots, Slot());
    size_ = 0;
  }

  // Returns the number of `key`, which is size() - 1 if the key is new.
  uint32_t Number(uint64_t key) {
    size_t at = (key * 0x9E3779B97F4A7C15u) >> shift_;  // 2^64 divided by the golden ratio
    while (slots_[at].number_plus_1 != 0) {
      if (slots_[at].key == key) return slots_[at].number_plus_1 - 1;
      at = (at + 1) & (slots_.size() - 1);
    }
    slots_[at] = {key, size_ + 1};
    return size_++;
  }

  uint32_t size() const { return size_; }

 private:
  static constexpr size_t kLeastSlots = 16;

  struct Slot {
    uint64_t key = 0;
    uint32_t number_plus_1 = 0;  // 0: the slot is empty
  };

  std::vector<Slot> slots_;  // a power of two
  uint32_t size_ = 0;
  int shift_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_HASH_NUMBERING_H_
