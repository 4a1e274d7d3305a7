// Repeated sequences of words.
#ifndef TRAINYARD_DATA_FILTER_WORD_REPETITION_H_
#define TRAINYARD_DATA_FILTER_WORD_REPETITION_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "data/filter/hash_numbering.h"
#include "data/filter/text_scan.h"

namespace trainyard::data {

constexpr size_t kShortestTopGram = 2;
constexpr size_t kLongestTopGram = 4;
constexpr size_t kShortestDuplicateGram = 5;
constexpr size_t kLongestDuplicateGram = 10;

// Characters of repeated n-grams. An n-gram is n consecutive words.
struct RepeatedCharacters {
  // Element n: occurrences of the most frequent n-gram times its length, with one space between
  // words. The earliest n-gram counts if several are equally frequent.
  std::array<uint64_t, kLongestTopGram + 1> top = {};
  // Element n: characters in n-grams that occurred earlier, without spaces. The search continues
  // after the last word of such an n-gram, so that no character counts twice.
  std::array<uint64_t, kLongestDuplicateGram + 1> duplicate = {};
};

// Words are equal if their 64-bit hashes are equal. N-grams are compared exactly, so that they are
// equal if and only if their words are.
class WordRepetition {
 public:
  // The result is valid for the text of `words`.
  RepeatedCharacters Measure(std::string_view text, const WordList& words);

 private:
  void NumberWords(std::string_view text, const WordList& words);
  void NumberGrams(size_t n, size_t words);
  void KeepRepeated();
  uint64_t TopCharacters(size_t n, const WordList& words) const;
  uint64_t DuplicateCharacters(size_t n, const WordList& words);

  HashNumbering numbering_;
  // Positions whose n-gram occurs at least twice, ascending.
  std::vector<uint32_t> positions_;
  // By position: the number of its n-gram. Numbers are assigned in the order of first occurrence.
  // Valid for `positions_`.
  std::vector<uint32_t> grams_;
  std::vector<uint8_t> is_repeated_;  // by position: it is in `positions_`
  std::vector<uint32_t> counts_;      // by number of the n-gram
  std::vector<uint32_t> first_positions_;
  std::vector<uint8_t> seen_;  // by number of the n-gram
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_WORD_REPETITION_H_
