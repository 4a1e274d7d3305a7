// The distinct words of a corpus, as sequences of symbol ids.
#ifndef TRAINYARD_DATA_BPE_TRAINING_WORD_LIST_H_
#define TRAINYARD_DATA_BPE_TRAINING_WORD_LIST_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "data/bpe_training/mapped_array.h"

namespace trainyard::data {

// All words are in one array, so that a visit of a short word reads one cache line. The position of
// a word is the index of its first element. A word has these elements: two with the halves of its
// count, one with its length, and its ids.
class WordList {
 public:
  static constexpr size_t kHeader = 3;
  static constexpr size_t kElementsMax = 0xFFFFFFFF;  // Positions have 32 bits.

  // Size in elements after a word of `length` symbols is added.
  size_t SizeWith(size_t length) const { return used_ + kHeader + length; }

  // Appends a word whose ids are its bytes. SizeWith(word.size()) must be at most kElementsMax.
  // Returns false if the system has not enough memory.
  [[nodiscard]] bool Add(std::string_view word, int64_t count);

  static int64_t CountOf(const uint32_t* word) {
    int64_t count;
    std::memcpy(&count, word, sizeof(count));
    return count;
  }
  static uint32_t LengthOf(const uint32_t* word) { return word[2]; }
  static std::span<uint32_t> IdsOf(uint32_t* word) { return {word + kHeader, LengthOf(word)}; }
  // The elements that the removed ids occupied remain unused.
  static void Shorten(uint32_t* word, uint32_t length) { word[2] = length; }

  uint32_t* At(uint32_t position) { return &elements_[position]; }
  void Prefetch(uint32_t position) const { __builtin_prefetch(&elements_[position], 1); }

  // Calls `visit(position, word)` for each word. No word may have been shortened.
  template <typename Visit>
  void ForEach(const Visit& visit) {
    for (size_t at = 0; at < used_;) {
      uint32_t* const word = &elements_[at];
      const size_t next = at + kHeader + LengthOf(word);
      visit(static_cast<uint32_t>(at), word);
      at = next;
    }
  }

  size_t bytes() const { return used_ * sizeof(uint32_t); }

 private:
  MappedArray<uint32_t> elements_;
  size_t used_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_WORD_LIST_H_
