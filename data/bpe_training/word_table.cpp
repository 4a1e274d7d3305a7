#include "data/bpe_training/word_table.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace trainyard::data {
namespace {

static_assert(std::endian::native == std::endian::little, "ShortKey reads little-endian words");

constexpr size_t kShortMax = 15;
constexpr uint64_t kLong = 0xFF;
constexpr int kLastByteShift = 56;
constexpr uint64_t kOffsetMask = (uint64_t{1} << kLastByteShift) - 1;
constexpr size_t kLeastTableSlots = 512;

// The low `bytes` bytes, 0 <= bytes <= 8.
uint64_t LowBytes(size_t bytes) {
  return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1;
}

}  // namespace

WordTable::Slot WordTable::ShortKey(const char* begin, size_t length, const char* limit) {
  uint64_t words[2] = {0, 0};
  if (limit - begin >= static_cast<ptrdiff_t>(sizeof(words))) {
    std::memcpy(words, begin, sizeof(words));
    words[0] &= LowBytes(length);
    words[1] &= length <= 8 ? 0 : LowBytes(length - 8);
  } else {
    std::memcpy(words, begin, length);
  }
  return {words[0], words[1] | uint64_t{length} << kLastByteShift, 0};
}

size_t WordTable::HashOf(const Slot& key) {
  // The head of a long word is its hash. Its tail has an offset, which is not part of the key.
  const uint64_t tail = key.tail >> kLastByteShift == kLong ? 0 : key.tail;
  const uint64_t product = (key.head ^ 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u ^ tail;
  const uint64_t mixed = (product ^ product >> 32) * 0x94D049BB133111EBu;
  return mixed >> 20;
}

std::string_view WordTable::LongWordOf(const Slot& slot) const {
  const char* const stored = &long_words_[slot.tail & kOffsetMask];
  uint32_t length;
  std::memcpy(&length, stored, sizeof(length));
  return {stored + sizeof(length), length};
}

std::string_view WordTable::WordOf(const Slot& slot) const {
  const uint64_t length = slot.tail >> kLastByteShift;
  if (length == kLong) return LongWordOf(slot);
  return {reinterpret_cast<const char*>(&slot), length};
}

void WordTable::Add(const char* begin, size_t length, const char* limit, uint64_t weight) {
  if (length > kShortMax) return AddLong({begin, length}, weight);
  Slot key = ShortKey(begin, length, limit);
  Slot* slot = FirstSlotOf(key);
  while (slot->head != key.head || slot->tail != key.tail) {
    if (slot->count == 0) {
      *slot = key;
      ++used_;
      break;
    }
    slot = After(slot);
  }
  slot->count += weight;
}

void WordTable::AddLong(std::string_view word, uint64_t weight) {
  Slot key{XXH3_64bits(word.data(), word.size()), kLong << kLastByteShift | long_bytes_, weight};
  Slot* slot = FirstSlotOf(key);
  for (; slot->count != 0; slot = After(slot)) {
    const bool is_long = slot->tail >> kLastByteShift == kLong;
    if (slot->head != key.head || !is_long || LongWordOf(*slot) != word) continue;
    slot->count += weight;
    return;
  }
  *slot = key;
  ++used_;
  const uint32_t length = static_cast<uint32_t>(word.size());
  std::memcpy(&long_words_[long_bytes_], &length, sizeof(length));
  std::memcpy(&long_words_[long_bytes_ + sizeof(length)], word.data(), word.size());
  long_bytes_ += sizeof(length) + word.size();
}

bool WordTable::Grow(size_t words, size_t bytes) {
  const size_t long_needed = long_bytes_ + bytes + words * sizeof(uint32_t);
  if (long_needed > long_words_.size()) {
    const size_t size = std::max(long_needed, long_words_.size() * 5 / 4);
    if (size + slots_.bytes() > memory_bytes_ || !long_words_.Resize(size)) return false;
  }
  const size_t slots = std::max(kLeastTableSlots, std::bit_ceil((used_ + words) * 4 / 3 + 1));
  return slots <= slots_.size() || GrowSlots(slots);
}

bool WordTable::GrowSlots(size_t slots) {
  // The old slots exist until they are copied.
  if (slots * sizeof(Slot) + bytes() > memory_bytes_) return false;
  MappedArray<Slot> old;
  if (!old.Resize(slots)) return false;
  std::swap(old, slots_);
  for (size_t i = 0; i < old.size(); ++i) {
    if (old[i].count == 0) continue;
    Slot* slot = FirstSlotOf(old[i]);
    while (slot->count != 0) slot = After(slot);
    *slot = old[i];
  }
  return true;
}

void WordTable::Compact() {
  if (used_ == 0) return;
  std::partition(slots_.data(), slots_.data() + slots_.size(),
                 [](const Slot& slot) { return slot.count != 0; });
}

bool WordTable::IsEarlier(const Slot& a, const Slot& b) const {
  const std::string_view x = WordOf(a), y = WordOf(b);
  if (x.size() >= sizeof(uint64_t) && y.size() >= sizeof(uint64_t)) {
    uint64_t first[2];
    std::memcpy(&first[0], x.data(), sizeof(uint64_t));
    std::memcpy(&first[1], y.data(), sizeof(uint64_t));
    if (first[0] != first[1]) {
      return __builtin_bswap64(first[0]) < __builtin_bswap64(first[1]);
    }
  }
  return x < y;
}

void WordTable::Sort() {
  Compact();
  std::sort(slots_.data(), slots_.data() + used_,
            [this](const Slot& a, const Slot& b) { return IsEarlier(a, b); });
}

void WordTable::Clear() {
  slots_.Clear();
  long_words_.Clear();
  used_ = 0;
  long_bytes_ = 0;
}

}  // namespace trainyard::data
