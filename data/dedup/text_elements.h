// Normalizes text and divides it into the elements of shingles.
#ifndef TRAINYARD_DATA_DEDUP_TEXT_ELEMENTS_H_
#define TRAINYARD_DATA_DEDUP_TEXT_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::data {

// All functions expect valid UTF-8 and change only the case of ASCII letters.

// Replaces `hashes` by one hash per word. A word is a run of letters and digits, without regard to
// the case of ASCII letters. Each Chinese or Japanese character is a word, because these languages
// do not separate words. `word` is scratch memory.
void HashWords(std::string_view text, std::string* word, std::vector<uint64_t>* hashes);

// Replaces `hashes` by one hash per character of the text in lower case, without ASCII punctuation.
// A run of white space counts as one space, and is ignored at both ends.
void HashCharacters(std::string_view text, std::vector<uint64_t>* hashes);

// The words of Python's text.lower().split(), joined by single spaces. Differs from Python for
// letters outside of ASCII that have a lower case.
struct JoinedWords {
  std::string text;
  std::vector<size_t> begins;  // of the words in `text`, then the size of `text` plus 1
};
void JoinWords(std::string_view text, JoinedWords* words);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_TEXT_ELEMENTS_H_
