// Counts words in memory.
#ifndef TRAINYARD_DATA_BPE_TRAINING_WORD_TABLE_H_
#define TRAINYARD_DATA_BPE_TRAINING_WORD_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "data/bpe_training/mapped_array.h"

namespace trainyard::data {

// A hash table with linear probing. Used by one thread.
class WordTable {
 public:
  // The least memory with which a table counts short words.
  static constexpr size_t kLeastBytes = size_t{64} << 10;

  // Uses at most `memory_bytes`, which must be at least kLeastBytes.
  explicit WordTable(size_t memory_bytes) : memory_bytes_(memory_bytes) {}

  // Ensures that `words` words with `bytes` bytes in total can be added. Returns false if they need
  // more memory than allowed.
  [[nodiscard]] bool MakeSpace(size_t words, size_t bytes) {
    // At most three quarters of the slots are used, so that searches end soon.
    const bool has_space = used_ + words <= slots_.size() / 4 * 3 &&
                           long_bytes_ + bytes + words * sizeof(uint32_t) <= long_words_.size();
    return has_space || Grow(words, bytes);
  }

  // Adds `weight` (at least 1) to the count of the word at [begin, begin + length), which must not
  // be empty. `limit`: the end of the readable memory after `begin`. MakeSpace must have provided
  // the space.
  void Add(const char* begin, size_t length, const char* limit, uint64_t weight);

  size_t size() const { return used_; }

  // Sorts the words by their bytes. Afterwards only word(i), count(i), size and Clear may be used.
  void Sort();
  // Moves the words together without an order. The same functions may be used as after Sort.
  void Compact();
  // The i-th word after Sort or Compact, i < size(). Valid until Clear.
  std::string_view word(size_t i) const { return WordOf(slots_[i]); }
  uint64_t count(size_t i) const { return slots_[i].count; }

  // Removes all words and releases the memory.
  void Clear();

  size_t bytes() const { return slots_.bytes() + long_words_.bytes(); }

 private:
  // Up to 15 bytes are stored in the slot itself: in `head` and `tail`, zero-padded, with the
  // length in the last byte. For a longer word, `head` is its hash, the last byte of `tail` is
  // kLong, and the rest of `tail` is the word's offset in long_words_, where four bytes with the
  // length precede the word.
  struct Slot {
    uint64_t head;
    uint64_t tail;
    uint64_t count;  // 0: the slot is unused.
  };

  static Slot ShortKey(const char* begin, size_t length, const char* limit);
  static size_t HashOf(const Slot& key);
  std::string_view WordOf(const Slot& slot) const;
  std::string_view LongWordOf(const Slot& slot) const;
  bool IsEarlier(const Slot& a, const Slot& b) const;
  void AddLong(std::string_view word, uint64_t weight);
  Slot* FirstSlotOf(const Slot& key) { return &slots_[HashOf(key) & (slots_.size() - 1)]; }
  Slot* After(Slot* slot) {
    return slot + 1 == slots_.data() + slots_.size() ? slots_.data() : slot + 1;
  }
  bool Grow(size_t words, size_t bytes);
  bool GrowSlots(size_t slots);

  const size_t memory_bytes_;
  MappedArray<Slot> slots_;  // The size is a power of two.
  size_t used_ = 0;
  MappedArray<char> long_words_;
  size_t long_bytes_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_WORD_TABLE_H_
