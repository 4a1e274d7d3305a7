// One pass over a text that counts characters and collects words and lines.
#ifndef TRAINYARD_DATA_FILTER_TEXT_SCAN_H_
#define TRAINYARD_DATA_FILTER_TEXT_SCAN_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace trainyard::data {

struct TextCounts {
  uint64_t characters = 0;       // code points
  uint64_t letters = 0;          // code points of category L
  uint64_t word_characters = 0;  // code points that are not white space
  uint64_t words = 0;            // as Python's str.split()
  uint64_t newlines = 0;         // LF
  uint64_t hash_signs = 0;       // "#"
  bool has_three_dots = false;   // "..." occurs
  bool has_non_ascii = false;
};

// A word is a longest sequence of characters that are not white space.
struct WordSpan {
  uint32_t begin;  // in bytes
  uint32_t size;
};

struct WordList {
  std::vector<WordSpan> spans;
  // Element i is the number of characters in the words before word i. One more element than words.
  std::vector<uint32_t> characters_before;
  uint32_t with_letters = 0;  // words that contain a letter

  // The number of characters of words [first, first + count), without white space.
  uint32_t Characters(size_t first, size_t count) const {
    return characters_before[first + count] - characters_before[first];
  }
  void Clear();
};

TextCounts CountText(std::string_view text);

// CountText that also sets `words`, and `newlines` to the offsets of all LF.
TextCounts ScanText(std::string_view text, WordList* words, std::vector<uint32_t>* newlines);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_TEXT_SCAN_H_
