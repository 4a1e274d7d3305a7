// Removes lines by the rules of C4.
#ifndef TRAINYARD_DATA_FILTER_C4_LINES_H_
#define TRAINYARD_DATA_FILTER_C4_LINES_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::data {

struct C4LineRules {
  bool end_punctuation = true;  // A line must end in . ? ! " ' but not in "...".
  uint64_t min_words = 3;
  uint64_t max_word_length = 1000;  // in characters
};

// Sets `edited` to the lines of the text that fulfil the rules, without white space at their ends
// and without citations such as [1]. Removes lines with "javascript" or a phrase about cookies and
// terms of use. Lines with "lorem ipsum" or "{" stay, because C4 drops a document that has one.
void KeepC4Lines(std::string_view text, const C4LineRules& rules, std::string* edited);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_C4_LINES_H_
