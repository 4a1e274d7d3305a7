#include "data/filter/word_repetition.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "data/bpe/hash.h"

namespace trainyard::data {
namespace {

constexpr size_t kHashBytes = sizeof(uint64_t);

// Hashes short words by one load of 8 bytes. The words must be in `text`.
uint64_t HashWord(std::string_view text, const WordSpan& word) {
  static_assert(std::endian::native == std::endian::little);
  if (word.size > kHashBytes || text.size() - word.begin < kHashBytes) {
    return HashBytes(text.substr(word.begin, word.size));
  }
  uint64_t bytes;
  std::memcpy(&bytes, text.data() + word.begin, kHashBytes);
  if (word.size < kHashBytes) {
    bytes &= (uint64_t{1} << word.size * 8) - 1;
    return MixWords(word.size, bytes);
  }
  return MixWords(MixWords(word.size, bytes), 0);
}

}  // namespace

RepeatedCharacters WordRepetition::Measure(std::string_view text, const WordList& words) {
  RepeatedCharacters repeated;
  const size_t size = words.spans.size();
  NumberWords(text, words);
  for (size_t n = 2; n <= kLongestDuplicateGram && n <= size; ++n) {
    NumberGrams(n, size);
    if (n <= kLongestTopGram) repeated.top[n] = TopCharacters(n, words);
    if (n >= kShortestDuplicateGram) repeated.duplicate[n] = DuplicateCharacters(n, words);
  }
  return repeated;
}

void WordRepetition::NumberWords(std::string_view text, const WordList& words) {
  const size_t size = words.spans.size();
  numbering_.Clear(size / 8);
  counts_.clear();
  first_positions_.clear();
  grams_.resize(size);
  positions_.resize(size);
  is_repeated_.assign(size, 1);
  for (size_t i = 0; i < size; ++i) {
    const uint32_t number = numbering_.Number(HashWord(text, words.spans[i]));
    if (number == counts_.size()) counts_.push_back(0);
    ++counts_[number];
    grams_[i] = number;
    positions_[i] = static_cast<uint32_t>(i);
  }
  KeepRepeated();
}

// An n-gram can occur twice only if its first and its last n - 1 words do. `grams_` is replaced in
// ascending order, because the key of a position needs the old number of the next position.
void WordRepetition::NumberGrams(size_t n, size_t words) {
  numbering_.Clear(positions_.size() / 2);
  counts_.clear();
  first_positions_.clear();
  size_t kept = 0;
  for (const uint32_t position : positions_) {
    const bool next_is_repeated = position + n <= words && is_repeated_[position + 1] != 0;
    if (!next_is_repeated) {
      is_repeated_[position] = 0;
      continue;
    }
    const uint64_t key = uint64_t{grams_[position]} << 32 | grams_[position + 1];
    const uint32_t number = numbering_.Number(key);
    if (number == counts_.size()) {
      counts_.push_back(0);
      first_positions_.push_back(position);
    }
    ++counts_[number];
    grams_[position] = number;
    positions_[kept++] = position;
  }
  positions_.resize(kept);
  KeepRepeated();
}

void WordRepetition::KeepRepeated() {
  size_t kept = 0;
  for (const uint32_t position : positions_) {
    if (counts_[grams_[position]] >= 2) {
      positions_[kept++] = position;
    } else {
      is_repeated_[position] = 0;
    }
  }
  positions_.resize(kept);
}

uint64_t WordRepetition::TopCharacters(size_t n, const WordList& words) const {
  uint64_t count = 1;
  size_t first = 0;  // If no n-gram occurs twice, the first one of the text counts.
  if (!positions_.empty()) {
    const auto top = std::max_element(counts_.begin(), counts_.end());
    count = *top;
    first = first_positions_[top - counts_.begin()];
  }
  return count * (words.Characters(first, n) + n - 1);
}

uint64_t WordRepetition::DuplicateCharacters(size_t n, const WordList& words) {
  seen_.assign(counts_.size(), 0);
  uint64_t characters = 0;
  size_t next = 0;  // Positions before it are in the words of a duplicate.
  for (const uint32_t position : positions_) {
    if (position < next) continue;
    uint8_t& seen = seen_[grams_[position]];
    if (seen != 0) {
      characters += words.Characters(position, n);
      next = position + n;
    }
    seen = 1;
  }
  return characters;
}

}  // namespace trainyard::data
